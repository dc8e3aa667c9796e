/** A file that cannot become a document. The message is the reason that is reported: `a PDF without text (scanned?)`. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}
