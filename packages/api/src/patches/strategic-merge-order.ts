/** The order of merged lists in a strategic merge patch. Contract: docs/behaviour/api-server/patch-and-apply.md, Order of merged lists. */

/** What makes two items the same one: the value of the merge key, or the scalar itself. */
export type ItemIdentity = (item: unknown) => unknown

/**
 * Items that `order` names stand in its order, the others as they stood in `serverOrder`; the two are interleaved. An item of
 * the server comes first only when both heads stood on the server and it stood in front: so new items come before
 * later items of the server.
 */
export function orderMerged(
  merged: readonly unknown[],
  order: readonly unknown[],
  serverOrder: readonly unknown[],
  identity: ItemIdentity,
): unknown[] {
  const named = positions(order, identity)
  const onServer = positions(serverOrder, identity)
  const place = (item: unknown, places: ReadonlyMap<unknown, number>): number =>
    places.get(identity(item)) ?? -1
  const placeOr = (absent: number, item: unknown): number => onServer.get(identity(item)) ?? absent
  const fromPatch = merged
    .filter((item) => named.has(identity(item)))
    .toSorted((a, b) => place(a, named) - place(b, named))
  const serverOnly = merged
    .filter((item) => !named.has(identity(item)))
    // What nobody names stays where it was added.
    .toSorted((a, b) => placeOr(Infinity, a) - placeOr(Infinity, b) || 0)
  const result: unknown[] = []
  let patchIndex = 0
  let serverIndex = 0
  while (patchIndex < fromPatch.length && serverIndex < serverOnly.length) {
    const patchPlace = place(fromPatch[patchIndex], onServer)
    const serverPlace = place(serverOnly[serverIndex], onServer)
    const serverFirst = patchPlace >= 0 && serverPlace >= 0 && serverPlace < patchPlace
    result.push(serverFirst ? serverOnly[serverIndex++] : fromPatch[patchIndex++])
  }
  return [...result, ...fromPatch.slice(patchIndex), ...serverOnly.slice(serverIndex)]
}

function positions(items: readonly unknown[], identity: ItemIdentity): Map<unknown, number> {
  const places = new Map<unknown, number>()
  items.forEach((item, index) => {
    const key = identity(item)
    if (!places.has(key)) places.set(key, index)
  })
  return places
}

/**
 * Whether the items of a patch's list stand in the order that its $setElementOrder tells. Gaps in the items are fine, and so are
 * directives, as long as the order goes on.
 */
export function agreesWithOrder(
  items: readonly unknown[],
  order: readonly unknown[],
  identity: ItemIdentity,
  isDirective: (item: unknown) => boolean,
): boolean {
  let next = 0
  for (const place of order) {
    while (next < items.length && isDirective(items[next])) next++
    if (next < items.length && identity(items[next]) === identity(place)) next++
  }
  return next >= items.length
}
