interface SlowStartOptions<Result> {
  /** A result after whose batch nothing more is started. */
  readonly ends: (result: Result) => boolean
  /** The result of an item that was never started; `ended` is the first result that ended the run, if one did. */
  readonly skip: (ended: Result | undefined) => Result
  readonly signal?: AbortSignal
}

/**
 * Starts items in parallel batches of 1, 2, 4, ...: when the first of many calls that would all fail for one reason fails,
 * few were made. A batch is always finished. Results are in the order of the items.
 * Contract: docs/behaviour/controllers/shared-controller-utils.md, Slow start.
 */
export async function inSlowStart<Item, Result>(
  items: readonly Item[],
  start: (item: Item) => Promise<Result>,
  options: SlowStartOptions<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  let ended: Result | undefined
  for (let batch = 1; results.length < items.length; batch *= 2) {
    if (ended !== undefined || options.signal?.aborted) {
      while (results.length < items.length) results.push(options.skip(ended))
      break
    }
    const answers = await Promise.all(
      items.slice(results.length, results.length + batch).map(start),
    )
    results.push(...answers)
    ended = answers.find(options.ends)
  }
  return results
}
