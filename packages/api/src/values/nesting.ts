/** Of objects and lists in each other. Deeper documents are refused before anything walks them. Go's own limit is ten times that; no kind comes near either. */
export const DEEPEST_NESTING = 1000

/** How many objects and lists are in each other at most: 0 for what is neither. Level by level: deep values are what it is for. */
export function nestingOf(value: unknown): number {
  let depth = 0
  for (let level = containersIn([value]); level.length > 0; depth++)
    level = level.flatMap((container) => containersIn(Object.values(container)))
  return depth
}

function containersIn(values: readonly unknown[]): readonly object[] {
  return values.filter((value) => typeof value === 'object' && value !== null) as object[]
}
