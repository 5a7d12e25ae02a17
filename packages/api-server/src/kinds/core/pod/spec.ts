/** A pod spec as a whole, of a pod or a template. Contract: defaulting-and-validation.md, "Pod create rules". */
import type { Stored } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '../../../schema/field-errors.ts'
import { invalidAll, validateLabels } from '../../../schema/validation/labels.ts'
import { validateTemplateMetadata } from '../../../schema/validation/metadata.ts'
import { dnsLabel, dnsSubdomain, qualifiedName } from '../../../schema/validation/names.ts'
import { INT32_MAX, validateRange } from '../../../schema/validation/numbers.ts'
import { validateIp } from '../../../schema/validation/ip.ts'
import {
  validateContainers,
  validateEphemeralContainers,
  validateInitContainers,
} from './containers.ts'
import { validateResourceQuantity, validateResourceRequirements } from './resources.ts'
import {
  validateAffinity,
  validateSchedulingGates,
  validateTolerations,
  validateTopologySpread,
} from './scheduling.ts'
import { validatePodSecurityContext } from './security.ts'
import { validateVolumes } from './volumes.ts'

const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']
const RESTART_POLICIES = ['Always', 'OnFailure', 'Never']

export function validatePodSpec(spec: Stored, errors: FieldErrors, field: string): void {
  const volumes = validateVolumes(spec.volumes, errors, `${field}.volumes`)
  const claims = validateResourceClaims(spec.resourceClaims, errors, `${field}.resourceClaims`)
  const pod = { spec, volumes, claims, graceSeconds: spec.terminationGracePeriodSeconds ?? 30 }
  const names = new Set<string>()
  validateContainers(pod, names, errors, `${field}.containers`)
  validateInitContainers(pod, names, errors, `${field}.initContainers`)
  validateEphemeralContainers(pod, names, errors, `${field}.ephemeralContainers`)
  validateResourceRequirements(spec.resources, errors, `${field}.resources`)
  validateHostNetworkPorts(spec, errors, field)
  oneOf(spec.restartPolicy, RESTART_POLICIES, errors, `${field}.restartPolicy`)
  oneOf(spec.dnsPolicy, DNS_POLICIES, errors, `${field}.dnsPolicy`)
  validateLabels(spec.nodeSelector, errors, `${field}.nodeSelector`)
  validatePodSecurityContext(spec, errors, `${field}.securityContext`)
  validateAffinity(spec.affinity, errors, `${field}.affinity`)
  validateDnsConfig(spec, errors, `${field}.dnsConfig`)
  for (const [index, gate] of (spec.readinessGates ?? []).entries()) {
    invalidAll(
      errors,
      `${field}.readinessGates[${index}].conditionType`,
      gate.conditionType ?? '',
      qualifiedName(gate.conditionType ?? ''),
    )
  }
  validateSchedulingGates(spec.schedulingGates, errors, `${field}.schedulingGates`)
  validateTopologySpread(
    spec.topologySpreadConstraints,
    errors,
    `${field}.topologySpreadConstraints`,
  )
  validateIdentity(spec, errors, field)
}

function oneOf(
  value: string | undefined,
  supported: readonly string[],
  errors: FieldErrors,
  field: string,
): void {
  if (!value) errors.required(field)
  else if (!supported.includes(value)) errors.notSupported(field, value, supported)
}

/** The remaining single fields, in the order in which they are reported. */
function validateIdentity(spec: Stored, errors: FieldErrors, field: string): void {
  const named = (name: string, check: (value: string) => readonly string[]): void => {
    if (spec[name]) invalidAll(errors, `${field}.${name}`, spec[name], check(spec[name]))
  }
  named('serviceAccountName', dnsSubdomain)
  named('nodeName', dnsSubdomain)
  if (spec.activeDeadlineSeconds !== undefined) {
    validateRange(
      spec.activeDeadlineSeconds,
      1,
      INT32_MAX,
      errors,
      `${field}.activeDeadlineSeconds`,
    )
  }
  named('hostname', dnsLabel)
  named('subdomain', dnsLabel)
  validateTolerations(spec.tolerations, errors, `${field}.tolerations`)
  for (const alias of spec.hostAliases ?? []) {
    validateIp(alias.ip ?? '', errors, `${field}.hostAliases.ip`)
    for (const name of alias.hostnames ?? [])
      invalidAll(errors, `${field}.hostAliases.hostnames`, name, dnsSubdomain(name))
  }
  named('priorityClassName', dnsSubdomain)
  named('runtimeClassName', dnsSubdomain)
  if (spec.preemptionPolicy !== undefined)
    oneOf(
      spec.preemptionPolicy,
      ['Never', 'PreemptLowerPriority'],
      errors,
      `${field}.preemptionPolicy`,
    )
  for (const name of Object.keys(spec.overhead ?? {}).toSorted()) {
    validateResourceQuantity(name, spec.overhead[name], errors, `${field}.overhead[${name}]`)
  }
  if (spec.os) oneOf(spec.os.name, ['linux', 'windows'], errors, `${field}.os.name`)
}

function validateHostNetworkPorts(spec: Stored, errors: FieldErrors, field: string): void {
  if (spec.hostNetwork !== true) return
  for (const list of ['containers', 'initContainers']) {
    for (const [index, container] of (spec[list] ?? []).entries()) {
      for (const [position, port] of (container.ports ?? []).entries()) {
        if ((port.hostPort ?? 0) === (port.containerPort ?? 0)) continue
        errors.invalid(
          `${field}.${list}[${index}].ports[${position}].hostPort`,
          port.hostPort ?? 0,
          'must match `containerPort` when `hostNetwork` is true',
        )
      }
    }
  }
}

function validateResourceClaims(
  claims: readonly Stored[] | undefined,
  errors: FieldErrors,
  field: string,
): ReadonlySet<string> {
  const names = new Set<string>()
  for (const [index, claim] of (claims ?? []).entries()) {
    const at = `${field}[${index}]`
    if (!claim.name) errors.required(`${at}.name`)
    else if (names.has(claim.name)) errors.duplicate(`${at}.name`, claim.name)
    else invalidAll(errors, `${at}.name`, claim.name, dnsLabel(claim.name))
    names.add(claim.name)
    if (claim.resourceClaimName !== undefined && claim.resourceClaimTemplateName !== undefined) {
      errors.invalid(
        at,
        claim,
        'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
      )
    }
    if (claim.resourceClaimName === undefined && claim.resourceClaimTemplateName === undefined) {
      errors.invalid(
        at,
        claim,
        'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
      )
    }
  }
  return names
}

function validateDnsConfig(spec: Stored, errors: FieldErrors, field: string): void {
  const config: Stored | undefined = spec.dnsConfig
  if (spec.dnsPolicy === 'None') {
    if (!config) {
      errors.required(field, 'must provide `dnsConfig` when `dnsPolicy` is None')
      return
    }
    if ((config.nameservers ?? []).length === 0) {
      errors.required(
        `${field}.nameservers`,
        'must provide at least one DNS nameserver when `dnsPolicy` is None',
      )
      return
    }
  }
  if (!config) return
  const servers: readonly string[] = config.nameservers ?? []
  if (servers.length > 3)
    errors.invalid(`${field}.nameservers`, servers, 'must not have more than 3 nameservers')
  for (const [index, server] of servers.entries())
    validateIp(server, errors, `${field}.nameservers[${index}]`)
  const searches: readonly string[] = config.searches ?? []
  if (searches.length > 32)
    errors.invalid(`${field}.searches`, searches, 'must not have more than 32 search paths')
  for (const [index, option] of (config.options ?? []).entries()) {
    if (!option.name) errors.required(`${field}.options[${index}]`, 'must not be empty')
  }
}

/** Labels, annotations and spec of a template. Templates never hold ephemeral containers. */
export function validateTemplate(template: Stored, errors: FieldErrors, field: string): void {
  const metadata: Stored | undefined = template.metadata
  validateTemplateMetadata(metadata, errors, field)
  validatePodSpec(template.spec ?? {}, errors, `${field}.spec`)
  if ((template.spec?.ephemeralContainers ?? []).length > 0) {
    errors.forbidden(
      `${field}.spec.ephemeralContainers`,
      'ephemeral containers not allowed in pod template',
    )
  }
}
