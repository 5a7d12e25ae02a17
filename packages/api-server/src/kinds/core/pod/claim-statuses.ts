/** The claims that the status of a pod names. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "Pod status update". */
import type { Pod, PodExtendedResourceClaimStatus, PodSpec } from '@gyropilot/api'
import type { StoredOf } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { dnsLabel, dnsSubdomain } from '@gyropilot/schema/validation/names'

export function validateClaimStatuses(
  { spec = {}, status = {} }: StoredOf<Pod>,
  errors: FieldErrors,
): void {
  const known = new Set((spec.resourceClaims ?? []).map(({ name }) => name))
  const seen = new Set<string>()
  for (const [index, claim] of (status.resourceClaimStatuses ?? []).entries()) {
    const { name = '', resourceClaimName } = claim
    const field = `status.resourceClaimStatuses[${index}]`
    if (!known.has(name))
      errors.invalid(
        `${field}.name`,
        name,
        'must match the name of an entry in `spec.resourceClaims`',
      )
    if (seen.has(name)) errors.duplicate(`${field}.name`, name)
    seen.add(name)
    if (resourceClaimName !== undefined)
      invalidAll(
        errors,
        `${field}.resourceClaimName`,
        resourceClaimName,
        dnsSubdomain(resourceClaimName),
      )
  }
  if (status.extendedResourceClaimStatus !== undefined)
    validateExtendedClaim(status.extendedResourceClaimStatus, spec, errors)
}

function validateExtendedClaim(
  { requestMappings, resourceClaimName = '' }: StoredOf<PodExtendedResourceClaimStatus>,
  spec: StoredOf<PodSpec>,
  errors: FieldErrors,
): void {
  const at = 'status.extendedResourceClaimStatus'
  if ((requestMappings ?? []).length === 0)
    errors.required(`${at}.requestMappings`, 'at least one request mapping is required')
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])]
  const seen = new Set<string>()
  for (const [index, mapping] of (requestMappings ?? []).entries()) {
    const { containerName = '', resourceName = '', requestName = '' } = mapping
    const field = `${at}.requestMappings[${index}]`
    const container = containers.find(({ name }) => name === containerName)
    if (container === undefined)
      errors.invalid(
        `${field}.containerName`,
        containerName,
        'must match the name of an entry in spec.initContainers.name or spec.containers.name',
      )
    else if (!Object.hasOwn(container.resources?.requests ?? {}, resourceName))
      errors.invalid(
        `${field}.resourceName`,
        resourceName,
        'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests',
      )
    // The field is told as one of the claim.
    invalidAll(errors, `${at}.requestName`, requestName, dnsLabel(requestName))
    const all = JSON.stringify([containerName, resourceName, requestName])
    if (seen.has(all)) {
      errors.duplicate(`${field}.containerName`, containerName)
      errors.duplicate(`${field}.resourceName`, resourceName)
      errors.duplicate(`${field}.requestName`, requestName)
    }
    seen.add(all)
  }
  if (resourceClaimName === '') errors.required(`${at}.resourceClaimName`)
  else
    invalidAll(
      errors,
      `${at}.resourceClaimName`,
      resourceClaimName,
      dnsSubdomain(resourceClaimName),
    )
}
