/** What changed between two lists of owner references. Pure. */
import { deepEqual } from '@gyropilot/api'
import type { OwnerReference } from '@gyropilot/api'

interface OwnerChanges {
  readonly added: readonly OwnerReference[]
  readonly removed: readonly OwnerReference[]
  readonly changed: readonly { readonly before: OwnerReference; readonly after: OwnerReference }[]
}

/** References are told apart by uid alone; of several with one uid the last counts. */
export function ownerChanges(
  before: readonly OwnerReference[],
  after: readonly OwnerReference[],
): OwnerChanges {
  const known = new Map(before.map((reference) => [reference.uid, reference]))
  const current = new Map(after.map((reference) => [reference.uid, reference]))
  const added: OwnerReference[] = []
  const changed: { before: OwnerReference; after: OwnerReference }[] = []
  for (const [uid, reference] of current) {
    const earlier = known.get(uid)
    if (earlier === undefined) added.push(reference)
    else if (!deepEqual(earlier, reference)) changed.push({ before: earlier, after: reference })
  }
  const removed = [...known.values()].filter(({ uid }) => !current.has(uid))
  return { added, removed, changed }
}

/** uids of owners that this dependent no longer holds up. */
export function unblockedOwners({ removed, changed }: OwnerChanges): readonly string[] {
  return [
    ...removed.filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true),
    ...changed
      .filter(
        ({ before, after }) => before.blockOwnerDeletion === true && !after.blockOwnerDeletion,
      )
      .map(({ after }) => after),
  ].map(({ uid }) => uid)
}
