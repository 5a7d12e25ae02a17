import type { Quantity } from '../generated/meta-v1.ts'
import type { PersistentVolumeClaim } from '../generated/core-v1.ts'
import type { ResourceList } from '../pods/pod-resources.ts'
import { QuantityAmount, compareQuantities, parseQuantity } from '../values/quantity.ts'
import { STORAGE_CLASS_INFIX } from './resource-names.ts'
import { scopeValueMatches } from './scopes.ts'
import type { ScopeRequirement, UsageEvaluator } from './usage-evaluator.ts'

const OBJECT_COUNT = 'count/persistentvolumeclaims'
const CLAIMS = 'persistentvolumeclaims'
const STORAGE = 'requests.storage'
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class'

export const volumeClaimEvaluator: UsageEvaluator = {
  resource: { group: '', resource: CLAIMS },
  counts(name) {
    if (name === OBJECT_COUNT || name === CLAIMS || name === STORAGE) return true
    return [CLAIMS, STORAGE].some((counted) => name.endsWith(`${STORAGE_CLASS_INFIX}${counted}`))
  },
  usage: (object) => volumeClaimUsage(object as PersistentVolumeClaim),
  matchesScope: (object, requirement) =>
    claimMatchesScope(object as PersistentVolumeClaim, requirement),
  admits({ operation, subresource, object, oldObject }) {
    if (subresource === '') return true
    if (subresource !== 'status' || operation !== 'UPDATE' || oldObject === undefined) return false
    const [is, was] = [object as PersistentVolumeClaim, oldObject as PersistentVolumeClaim]
    return (
      compareQuantities(allocatedStorage(is) ?? '0', allocatedStorage(was) ?? '0') !== 0 ||
      attributesClasses(is).join() !== attributesClasses(was).join()
    )
  },
  changesUsage: () => true,
}

function volumeClaimUsage(claim: PersistentVolumeClaim): ResourceList {
  const usage: Record<string, Quantity> = { [OBJECT_COUNT]: '1', [CLAIMS]: '1' }
  const className =
    claim.metadata?.annotations?.[CLASS_ANNOTATION] ?? claim.spec?.storageClassName ?? ''
  const ofClass = (name: string): string => `${className}${STORAGE_CLASS_INFIX}${name}`
  if (className !== '') usage[ofClass(CLAIMS)] = '1'
  const storage = chargedStorage(claim)
  if (storage === undefined) return usage
  usage[STORAGE] = storage
  if (className !== '') usage[ofClass(STORAGE)] = storage
  return usage
}

/** A claim that shrinks holds what it has until the driver has taken it away. */
function chargedStorage(claim: PersistentVolumeClaim): Quantity | undefined {
  const requested = claim.spec?.resources?.requests?.['storage']
  if (requested === undefined) return undefined
  const allocated = allocatedStorage(claim)
  const isMore = allocated !== undefined && compareQuantities(allocated, requested) > 0
  return wholeBytes(isMore ? allocated : requested)
}

function allocatedStorage({ status }: PersistentVolumeClaim): Quantity | undefined {
  return status?.allocatedResources?.['storage']
}

function wholeBytes(amount: Quantity): string {
  const parsed = parseQuantity(amount)
  if (parsed.isInteger) return parsed.toString()
  return new QuantityAmount(BigInt(parsed.toInteger()) * 1_000_000_000n, parsed.format).toString()
}

function attributesClasses({ spec, status }: PersistentVolumeClaim): readonly string[] {
  const names = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ]
  return [
    ...new Set(names.filter((name) => name !== undefined && name !== '')),
  ].toSorted() as string[]
}

/** A claim on its way from one class to another is of both. */
function claimMatchesScope(claim: PersistentVolumeClaim, requirement: ScopeRequirement): boolean {
  if (requirement.scopeName !== 'VolumeAttributesClass') return false
  const classes = attributesClasses(claim)
  if (classes.length === 0) return scopeValueMatches(requirement, '')
  return classes.some((name) => scopeValueMatches(requirement, name))
}
