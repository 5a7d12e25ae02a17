/**
 * The first of `count` indices, from 0, for which `holds`; `count` when it holds for none. It must hold for all after the first.
 * Asks O(log count) times.
 */
export function firstIndexWhere(count: number, holds: (index: number) => boolean): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}
