/** Returns whether an address accepts connections within `ms` milliseconds. Ten times as fast as loading `fetch`. */
export async function listens(url: URL, ms: number): Promise<boolean> {
  const { connect } = await import('node:net')
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return new Promise((resolve) => {
    const socket = connect({ port, host })
    const end = (answer: boolean): void => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(ms, () => end(false))
    socket.on('connect', () => end(true))
    socket.on('error', () => end(false))
  })
}
