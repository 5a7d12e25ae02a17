/** One finalizer of an object that is being deleted. Pure. */
import type { Facts, Found, Reason } from './facts.ts'
import { keptBy, knownFinalizer } from './known-finalizers.ts'
import type { KnownFinalizer } from './known-finalizers.ts'
import { isByHand, likelyOwners, setterOf, setterText } from './unknown-finalizer.ts'
import { counted, shortName, some, unreadable } from './words.ts'

export function explainFinalizer(facts: Facts, name: string): Reason {
  const known = knownFinalizer(name)
  if (known === undefined) return unknown(facts, name)
  const collected = name === 'foregroundDeletion' || name === 'orphan'
  return collected ? collectorReason(facts, name, known) : ofKubernetes(facts, name, known)
}

function ofKubernetes(facts: Facts, name: string, known: KnownFinalizer): Reason {
  const keepers = known.keepers?.(facts) ?? []
  return {
    code: 'Finalizer',
    holds: `finalizer ${name}`,
    remover: known.remover,
    ...sinceOf(facts, name),
    evidence: [
      ...keptBy(keepers),
      ...(known.evidence?.(facts) ?? []),
      ...unreadable([
        ...facts.related.failed,
        ...(keepers.length > 0 ? [] : facts.contents.failed),
      ]),
      ...(keepers.length === 0 && known.keepers !== undefined
        ? ['nothing that would keep it is to be seen: its remover has to act']
        : []),
    ],
    release: known.release,
    waitsFor: keepers,
  }
}

/** `foregroundDeletion` waits for dependents that block, `orphan` for all that still name the owner. */
function collectorReason(facts: Facts, name: string, known: KnownFinalizer): Reason {
  const { dependents, object } = facts
  const uid = object.metadata?.uid
  const blocks = ({ object: dependent }: Found): boolean =>
    dependent.metadata?.ownerReferences?.some(
      (owner) => owner.uid === uid && owner.blockOwnerDeletion === true,
    ) ?? false
  const isOrphan = name === 'orphan'
  const waitsFor = isOrphan ? [] : dependents.found.filter(blocks)
  const others = dependents.found.length - waitsFor.length
  const evidence: string[] = []
  if (isOrphan)
    evidence.push(`${some(dependents.found.length, 'dependent')} still name it as owner`)
  else if (waitsFor.length > 0) evidence.push(`blockOwnerDeletion of ${counted(waitsFor)}`)
  else evidence.push('no dependent that blocks is to be seen: the garbage collector has to act')
  if (!isOrphan && others > 0)
    evidence.push(`${some(others, 'dependent')} without that do not hold it`)
  return {
    code: 'Dependents',
    holds: `finalizer ${name}`,
    remover: known.remover,
    ...sinceOf(facts, name),
    evidence: [...evidence, ...unreadable(dependents.failed)],
    release: known.release,
    waitsFor,
  }
}

function unknown(facts: Facts, name: string): Reason {
  const { object, cluster, nowMs } = facts
  const setter = setterOf(object, name)
  const owners = likelyOwners(name, setter?.manager, cluster, nowMs)
  const unread = unreadable(cluster.unread.controllers)
  return {
    code: 'Finalizer',
    holds: `finalizer ${name}`,
    ...sinceOf(facts, name),
    evidence: [setterText(setter, nowMs), ...owners.map(({ text }) => text), ...unread],
    ...outlook(facts, name, owners),
    waitsFor: [],
  }
}

/** Removal by hand is told only where a controller was looked for everywhere and none can be at work. */
function outlook(
  facts: Facts,
  name: string,
  owners: readonly { readonly runs: boolean }[],
): Pick<Reason, 'remover' | 'release'> {
  if (owners.some(({ runs }) => runs)) {
    return {
      remover: 'probably the controller below, which runs',
      release: 'its controller finishes what it has to clean up: see its log',
    }
  }
  if (facts.cluster.unread.controllers.length > 0) {
    return {
      remover: 'a controller; whether it runs cannot be seen',
      release:
        'its controller removes it: somebody who may list workloads and leases of all namespaces can see whether it runs',
    }
  }
  if (owners.length === 0 && !isByHand(setterOf(facts.object, name))) {
    return {
      remover: 'a controller; none with a name like it was found',
      release:
        'its controller removes it when it has cleaned up: find out where it runs, under what name',
    }
  }
  return {
    remover: 'a controller that does not seem to run in this cluster',
    release: `its controller is started and removes it; if that is gone for good, by hand, which skips its clean-up: ${removal(facts, name)}`,
  }
}

/** Tests the name first, as the list may have changed meanwhile. */
function removal(facts: Facts, name: string): string {
  const { finalizers = [], namespace } = facts.object.metadata ?? {}
  const path = `/metadata/finalizers/${finalizers.indexOf(name)}`
  const patch = JSON.stringify([
    { op: 'test', path, value: name },
    { op: 'remove', path },
  ])
  const where = namespace ? ` -n ${namespace}` : ''
  return `kubectl patch ${shortName(facts)}${where} --type=json -p='${patch}'`
}

function sinceOf({ object }: Facts, name: string): { readonly since?: string } {
  const time = setterOf(object, name)?.time
  return time ? { since: time } : {}
}
