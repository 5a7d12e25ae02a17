import type { AdmissionPlugin, AdmissionRequest } from '../../contracts.ts'
import type { Stored } from '../../registry/kind-rules.ts'
import { compareQuantities, semanticEqual } from '@gyropilot/api'
import { emptyGiven } from '@gyropilot/schema/given-value'
import { addressProblem } from '@gyropilot/schema/validation/names'
import { unclassified } from '../../http/errors.ts'
import { isFor, read, refusal } from '../world.ts'
import type { AdmissionWorld } from '../world.ts'

/** Takes over what a pod's runtime class says of overhead and of where it can run. */
export function runtimeClass(world: AdmissionWorld): AdmissionPlugin {
  const classOf = ({ object }: AdmissionRequest): Stored | undefined =>
    object!['spec'].runtimeClassName
      ? read(world, 'runtimeclasses.node.k8s.io', object!['spec'].runtimeClassName)
      : undefined
  return {
    name: 'RuntimeClass',
    handles: (request) => request.operation === 'CREATE' && isFor(request, '', 'pods'),
    mutate(request) {
      const { spec } = request.object!
      checkName(spec.runtimeClassName)
      const found = classOf(request)
      if (spec.runtimeClassName && found === undefined) {
        throw refusal(
          request,
          `pod rejected: RuntimeClass ${JSON.stringify(spec.runtimeClassName)} not found`,
        )
      }
      const overhead: Stored | undefined = found?.['overhead']
      if (overhead !== undefined) takeOverhead(request, overhead['podFixed'] ?? {})
      if (found?.['scheduling'] !== undefined) mergeScheduling(request, found['scheduling'])
    },
    // Beside what other rules say of the pod, so that a wrong amount is told as that.
    validate(request) {
      const declared: unknown = classOf(request)?.['overhead']
      const { spec } = request.object!
      // One that was given empty counts, though it is not stored.
      const own: unknown = spec.overhead ?? emptyGiven(spec, 'overhead')
      if (declared === undefined && own !== undefined)
        throw refusal(
          request,
          'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
        )
    },
  }
}

/** What no address can be made of is not asked for: an error of the server, as upstream's client has it. */
function checkName(name: string | undefined): void {
  if (name === undefined) return
  if (name === '') throw unclassified('resource name may not be empty')
  const problem = addressProblem(name)
  if (problem !== undefined) throw unclassified(problem)
}

function takeOverhead(request: AdmissionRequest, overhead: Readonly<Record<string, string>>): void {
  const { spec } = request.object!
  if (spec.overhead === undefined) {
    if (Object.keys(overhead).length > 0) spec.overhead = { ...overhead }
    return
  }
  const names = new Set([...Object.keys(overhead), ...Object.keys(spec.overhead)])
  for (const name of names) {
    const isSame =
      overhead[name] !== undefined &&
      spec.overhead[name] !== undefined &&
      compareQuantities(overhead[name], spec.overhead[name]) === 0
    if (!isSame)
      throw refusal(
        request,
        "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
      )
  }
}

function mergeScheduling(request: AdmissionRequest, scheduling: Stored): void {
  const { spec } = request.object!
  const { nodeSelector, tolerations } = scheduling
  for (const [key, value] of Object.entries((nodeSelector ?? {}) as Record<string, string>)) {
    const own = spec.nodeSelector?.[key]
    if (own !== undefined && own !== value) {
      const clash = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`
      throw refusal(request, clash)
    }
  }
  if (nodeSelector !== undefined) spec.nodeSelector = { ...spec.nodeSelector, ...nodeSelector }
  const merged = mergedTolerations([...(spec.tolerations ?? []), ...(tolerations ?? [])])
  if (merged.length > 0) spec.tolerations = structuredClone(merged)
}

/** Without those that another one covers. Of two that cover each other the first stays. */
function mergedTolerations(all: readonly Stored[]): readonly Stored[] {
  const merged: Stored[] = []
  for (const [index, toleration] of all.entries()) {
    const isCovered =
      merged.some((kept) => covers(kept, toleration)) ||
      all
        .slice(index + 1)
        .some((later) => !semanticEqual(later, toleration) && covers(later, toleration))
    if (!isCovered) merged.push(toleration)
  }
  return merged
}

/** As upstream judges it: one without an operator covers one with `Equal` and is not covered by it. */
function covers(wide: Stored, narrow: Stored): boolean {
  if (semanticEqual(wide, narrow)) return true
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = wide
  const { key: narrowKey = '', effect: narrowEffect = '' } = narrow
  if (key !== narrowKey && !(key === '' && operator === 'Exists')) return false
  if (effect !== '' && effect !== narrowEffect) return false
  if (effect === 'NoExecute' && tolerationSeconds !== undefined) {
    const narrowSeconds = narrow['tolerationSeconds']
    if (narrowSeconds === undefined || narrowSeconds > tolerationSeconds) return false
  }
  if (operator === 'Exists') return true
  const isOfValue = operator === '' || operator === 'Equal'
  return isOfValue && narrow['operator'] === 'Equal' && (narrow['value'] ?? '') === value
}
