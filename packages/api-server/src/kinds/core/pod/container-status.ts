/** What the status of a pod says of its containers' users and devices. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "Pod status update". */
import type { Container, ContainerStatus, Pod, ResourceStatus } from '@gyropilot/api'
import type { StoredOf } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { givenValue } from '@gyropilot/schema/given-value'
import { validateRange } from '@gyropilot/schema/validation/numbers'

const MAX_ID = 2 ** 31 - 1
const CLAIM = 'claim:'
const HEALTH = ['Healthy', 'Unhealthy', 'Unknown']

type Statuses = readonly StoredOf<ContainerStatus>[] | undefined

export function validateContainerStatuses(
  { spec = {}, status = {} }: StoredOf<Pod>,
  errors: FieldErrors,
): void {
  const { containerStatuses, initContainerStatuses, ephemeralContainerStatuses } = status
  const lists = { containerStatuses, initContainerStatuses, ephemeralContainerStatuses }
  for (const [name, statuses] of Object.entries(lists))
    validateUsers(statuses, errors, `status.${name}`)
  validateDevices(containerStatuses, spec.containers, errors, 'status.containerStatuses')
  validateDevices(
    initContainerStatuses,
    spec.initContainers,
    errors,
    'status.initContainerStatuses',
  )
  refuseDevices(ephemeralContainerStatuses, errors, 'status.ephemeralContainerStatuses')
}

function validateUsers(statuses: Statuses, errors: FieldErrors, field: string): void {
  for (const [index, { user }] of (statuses ?? []).entries()) {
    const linux = user?.linux
    if (linux === undefined) continue
    const at = `${field}[${index}].user.linux`
    validateRange(linux.uid ?? 0, 0, MAX_ID, errors, `${at}.uid`)
    validateRange(linux.gid ?? 0, 0, MAX_ID, errors, `${at}.gid`)
    for (const [place, group] of (linux.supplementalGroups ?? []).entries())
      validateRange(group, 0, MAX_ID, errors, `${at}.supplementalGroups[${place}]`)
  }
}

function refuseDevices(statuses: Statuses, errors: FieldErrors, field: string): void {
  for (const [index, { allocatedResourcesStatus = [] }] of (statuses ?? []).entries())
    if (allocatedResourcesStatus.length > 0)
      errors.forbidden(
        `${field}[${index}].allocatedResourcesStatus`,
        'must not be specified in container status',
      )
}

/** Containers that the pod does not have may have any devices. */
function validateDevices(
  statuses: Statuses,
  containers: readonly StoredOf<Container>[] = [],
  errors: FieldErrors,
  field: string,
): void {
  for (const [index, { name, allocatedResourcesStatus }] of (statuses ?? []).entries()) {
    const container = containers.find((one) => one.name === name)
    for (const [place, resource] of (allocatedResourcesStatus ?? []).entries()) {
      const at = `${field}[${index}].allocatedResourcesStatus[${place}]`
      if (container !== undefined) validateDeviceName(resource.name ?? '', container, errors, at)
      validateHealth(resource, errors, at)
    }
  }
}

function validateDeviceName(
  name: string,
  { resources = {} }: StoredOf<Container>,
  errors: FieldErrors,
  at: string,
): void {
  if (!name.startsWith(CLAIM)) {
    if (!Object.hasOwn(resources.requests ?? {}, name))
      errors.invalid(`${at}.name`, name, "must match one of the container's resource requests")
    return
  }
  const claims = (resources.claims ?? []).map(
    ({ name: claim, request = '' }) => `${CLAIM}${claim}${request === '' ? '' : `/${request}`}`,
  )
  if (!claims.includes(name))
    errors.invalid(
      `${at}.name`,
      name,
      "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty",
    )
}

function validateHealth(
  { resources = [] }: StoredOf<ResourceStatus>,
  errors: FieldErrors,
  at: string,
): void {
  const seen = new Set<string>()
  for (const [index, one] of resources.entries()) {
    const { resourceID = '', health = '' } = one
    const field = `${at}.resources[${index}]`
    if (!HEALTH.includes(health)) errors.notSupported(`${field}.health`, health, HEALTH)
    if (givenValue(one, 'message') === '')
      errors.required(`${field}.message`, 'must be non-empty if specified')
    if (seen.has(resourceID)) errors.duplicate(`${field}.resourceID`, resourceID)
    seen.add(resourceID)
  }
}
