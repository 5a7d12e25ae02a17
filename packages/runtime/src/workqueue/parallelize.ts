interface ParallelizeOptions {
  /** Pieces that one worker takes at a time. Default 1. */
  readonly chunkSize?: number
  /** Once it aborts no further piece is started. */
  readonly signal?: AbortSignal
}

/** Runs `run(0)` to `run(pieces - 1)`, at most `workers` at once. Rejects with the first failure, after all workers ended. */
export async function parallelize(
  workers: number,
  pieces: number,
  run: (piece: number) => Promise<void>,
  options: ParallelizeOptions = {},
): Promise<void> {
  const chunkSize = Math.max(1, options.chunkSize ?? 1)
  const chunks = Math.ceil(pieces / chunkSize)
  let nextChunk = 0
  const failures: unknown[] = []
  const worker = async (): Promise<void> => {
    while (nextChunk < chunks) {
      const first = nextChunk++ * chunkSize
      for (let piece = first; piece < Math.min(first + chunkSize, pieces); piece++) {
        if (options.signal?.aborted) return
        await run(piece).catch((error: unknown) => failures.push(error))
      }
    }
  }
  await Promise.all(Array.from({ length: workers }, worker))
  if (failures.length > 0) throw failures[0]
}
