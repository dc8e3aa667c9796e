/** The sentences that are ours and no document's. */

export const ABSTENTION = 'The documents do not contain the answer to this question.'

/** Stands above the places that come nearest to a question without an answer. */
export const NEAREST = 'Nearest places:'

export const NO_DOCUMENTS =
  'I am the built-in model of cria: I answer questions by quoting passages of documents, and there are none here to quote from. Index some with `cria index <path>`, or name a language model with `--model`.'

export const NO_QUESTION = 'There is no question to answer.'
