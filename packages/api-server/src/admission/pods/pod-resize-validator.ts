/** Resizes that the pod's node cannot carry out. Contract: docs/behaviour/api-server/subresources-and-admission.md, "Admission order". */
import { compareQuantities, podResources, quantityToInteger, quantityToMilli } from '@gyropilot/api'
import { ApiError, type AdmissionPlugin, type AdmissionRequest } from '../../contracts.ts'
import type { Stored } from '../../registry/kind-rules.ts'
import { isFor, read, refusal } from '../world.ts'
import type { AdmissionWorld } from '../world.ts'

export function podResizeValidator(world: AdmissionWorld): AdmissionPlugin {
  return {
    name: 'PodResizeValidator',
    handles: (request) => request.operation === 'UPDATE' && isFor(request, '', 'pods', 'resize'),
    validate(request) {
      const { object, oldObject } = request
      const nodeName: string = object!['spec'].nodeName ?? ''
      if (nodeName === '') return
      // The generation grows with the spec: otherwise nothing was resized.
      if (object!['metadata'].generation === oldObject?.['metadata'].generation) return
      const node = read(world, 'nodes', nodeName)
      if (node === undefined) throw refusal(request, `node ${JSON.stringify(nodeName)} not found`)
      checkPlatform(request, node)
      checkCapacity(request, node)
    },
  }
}

function checkPlatform(request: AdmissionRequest, { metadata }: Stored): void {
  const system: string = metadata.labels?.['kubernetes.io/os'] ?? 'linux'
  if (system === 'linux') return
  const why = `pod resize is only supported on linux nodes, node ${JSON.stringify(metadata.name)} is ${JSON.stringify(system)}`
  throw withCause(refusal(request, why), 'UnsupportedPlatform')
}

function checkCapacity(request: AdmissionRequest, { status }: Stored): void {
  const requests = podResources(request.object!, 'requests')
  const short = (['cpu', 'memory'] as const).flatMap((name) => {
    const requested = requests[name] ?? '0'
    const allocatable: string = status?.allocatable?.[name] ?? '0'
    if (compareQuantities(requested, allocatable) <= 0) return []
    const amount = name === 'cpu' ? quantityToMilli : quantityToInteger
    return [`${name}, requested: ${amount(requested)}, allocatable: ${amount(allocatable)}`]
  })
  if (short.length === 0) return
  const why = `node didn't have enough allocatable resources: ${short.join('; ')}`
  throw withCause(refusal(request, why), 'NodeCapacity')
}

function withCause({ code, reason, message, details }: ApiError, cause: string): ApiError {
  return new ApiError(code, reason, message, {
    details: { ...details, causes: [{ reason: cause }] },
  })
}
