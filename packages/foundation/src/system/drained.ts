import type { Writable } from 'node:stream'

/**
 * Resolves when more may be written to a stream that has taken all it holds, and when nothing can be any more. Leaves no listener behind,
 * however often a stream is waited for: of two promises that race, the one that loses keeps its own.
 */
export function drained(stream: Writable): Promise<void> {
  if (stream.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done)
      stream.off('close', done)
      resolve()
    }
    stream.on('drain', done)
    stream.on('close', done)
  })
}
