/**
 * Who may change which part of a claim's status: allocation and users are the scheduler's, devices are their drivers'.
 * kube-apiserver checks this in the storage of claims, after mutation. Contract:
 * docs/behaviour/api-server/defaulting-and-validation.md, resource.k8s.io.
 */
import { semanticEqual } from '@gyropilot/api'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import type { Stored } from '@gyropilot/schema/objects'
import { forbiddenRequest } from '../auth/forbidden.ts'
import type { AdmissionPlugin, AdmissionRequest, RequestAttributes } from '../contracts.ts'
import { invalid } from '../http/errors.ts'
import { isFor } from './world.ts'
import type { AdmissionWorld } from './world.ts'

const GROUP = 'resource.k8s.io'
const RESOURCE = 'resourceclaims'
/** Where a token of a pod says which node it is from. */
const NODE_EXTRA = 'authentication.kubernetes.io/node-name'

export function claimStatusAuthorization(world: AdmissionWorld): AdmissionPlugin {
  return {
    name: 'ResourceClaimStatusAuthorization',
    handles: (request) =>
      request.operation === 'UPDATE' && isFor(request, GROUP, RESOURCE, 'status'),
    validate(request) {
      const errors = new FieldErrors()
      checkBinding(world, request, errors)
      checkDrivers(world, request, errors)
      if (errors.list.length > 0) throw invalid(GROUP, 'ResourceClaim', request.name, errors.list)
    },
  }
}

function checkBinding(world: AdmissionWorld, request: AdmissionRequest, errors: FieldErrors): void {
  const [before, after] = statusesOf(request)
  const isSame =
    semanticEqual(before.allocation, after.allocation) &&
    semanticEqual(before.reservedFor ?? [], after.reservedFor ?? [])
  if (isSame) return
  const verb = verbOf(request)
  const refusal = refusalOf(world, attributes(request, verb, 'binding', '', ''))
  if (refusal !== undefined)
    errors.forbidden(
      'status.allocation',
      `changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="${verb}" permission: ${refusal}`,
    )
}

function checkDrivers(world: AdmissionWorld, request: AdmissionRequest, errors: FieldErrors): void {
  const [before, after] = statusesOf(request)
  const verbs = [
    ...(isOfClaimsNode(request) ? [`associated-node:${verbOf(request)}`] : []),
    `arbitrary-node:${verbOf(request)}`,
  ]
  const left = (before.devices ?? []).filter((device: Stored) => isAllocated(device, after))
  for (const driver of changedDrivers(left, after.devices ?? [])) {
    const refusals = verbs.map((verb) =>
      refusalOf(world, attributes(request, verb, 'driver', request.namespace, driver)),
    )
    if (refusals.includes(undefined)) continue
    errors.forbidden(
      'status.devices',
      `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(' ')}]" permission: ${refusals[0]}`,
    )
  }
}

/** What goes with its allocation is not the driver's doing. */
function isAllocated({ driver, pool, device }: Stored, { allocation }: Stored): boolean {
  const results: readonly Stored[] = allocation?.devices?.results ?? []
  return results.some(
    (result) => result.driver === driver && result.pool === pool && result.device === device,
  )
}

/** Sorted. */
function changedDrivers(before: readonly Stored[], after: readonly Stored[]): readonly string[] {
  const of = (devices: readonly Stored[], driver: string) =>
    devices.filter((device) => device.driver === driver)
  const drivers = new Set([...before, ...after].map(({ driver }) => String(driver)))
  return [...drivers]
    .filter((driver) => !semanticEqual(of(before, driver), of(after, driver)))
    .toSorted()
}

/** The token is of a pod on the one node that the claim is allocated for. */
function isOfClaimsNode({ user, oldObject }: AdmissionRequest): boolean {
  const [node] = user.extra?.[NODE_EXTRA] ?? []
  const terms: readonly Stored[] =
    oldObject?.['status']?.allocation?.nodeSelector?.nodeSelectorTerms ?? []
  return (
    node !== undefined &&
    terms.length === 1 &&
    (terms[0]!.matchFields ?? []).some(
      ({ key, values = [] }: Stored) =>
        key === 'metadata.name' && values.length === 1 && values[0] === node,
    )
  )
}

function statusesOf({ object, oldObject }: AdmissionRequest): readonly [Stored, Stored] {
  return [oldObject?.['status'] ?? {}, object?.['status'] ?? {}]
}

function verbOf({ options }: AdmissionRequest): string {
  return options['kind'] === 'PatchOptions' ? 'patch' : 'update'
}

function attributes(
  { user }: AdmissionRequest,
  verb: string,
  subresource: string,
  namespace: string,
  name: string,
): RequestAttributes {
  return {
    user,
    verb,
    group: GROUP,
    version: 'v1',
    resource: RESOURCE,
    subresource,
    namespace,
    name,
    path: '',
    isResourceRequest: true,
  }
}

function refusalOf({ authorizer }: AdmissionWorld, asked: RequestAttributes): string | undefined {
  const { allowed, reason } = authorizer.authorize(asked)
  return allowed ? undefined : forbiddenRequest(asked, reason).message
}
