/** A pod spec as a whole, of a pod or a template. Contract: defaulting-and-validation.md, "Pod create rules". */
import type {
  Pod,
  PodResourceClaim,
  PodSchedulingGroup,
  PodSpec,
  PodTemplateSpec,
} from '@gyropilot/api'
import type { Stored, StoredOf } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll, validateLabels } from '@gyropilot/schema/validation/labels'
import { validateTemplateMetadata } from '@gyropilot/schema/validation/metadata'
import {
  dnsLabel,
  dnsSubdomain,
  qualifiedName,
  underscoreSubdomain,
} from '@gyropilot/schema/validation/names'
import { INT32_MAX, validateRange } from '@gyropilot/schema/validation/numbers'
import { validateIp } from '@gyropilot/schema/validation/ip'
import {
  validatePodAnnotations,
  validateProfileAnnotations,
  visitContainers,
} from './annotations.ts'
import {
  validateContainers,
  validateEphemeralContainers,
  validateInitContainers,
  validateTrimmedImage,
} from './containers.ts'
import {
  validateHostProcesses,
  validateHostUsers,
  validateOperatingSystem,
} from './operating-system.ts'
import { validatePodResources, validateResourceRequirements } from './resources.ts'
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

/** `podName`: of a pod that is made from the spec; undefined in templates. */
function validatePodSpec(
  spec: StoredOf<PodSpec>,
  errors: FieldErrors,
  field: string,
  podName?: string,
): void {
  const volumes = validateVolumes(spec.volumes, errors, `${field}.volumes`, podName)
  const claims = validateResourceClaims(spec.resourceClaims, errors, `${field}.resourceClaims`)
  const pod = { spec, volumes, claims, graceSeconds: spec.terminationGracePeriodSeconds ?? 30 }
  const names = new Set<string>()
  validateContainers(pod, names, errors, `${field}.containers`)
  validateInitContainers(pod, names, errors, `${field}.initContainers`)
  validateEphemeralContainers(pod, errors, `${field}.ephemeralContainers`)
  validatePodResources(spec, errors, `${field}.resources`, claims)
  validateHostNetworkPorts(spec, errors, `${field}.containers`, podName !== undefined)
  oneOf(spec.restartPolicy, RESTART_POLICIES, errors, `${field}.restartPolicy`)
  oneOf(spec.dnsPolicy, DNS_POLICIES, errors, `${field}.dnsPolicy`)
  validateLabels(spec.nodeSelector, errors, `${field}.nodeSelector`)
  validatePodSecurityContext(spec, errors, `${field}.securityContext`)
  validateAffinity(spec.affinity, errors, `${field}.affinity`)
  validateDnsConfig(spec, errors, `${field}.dnsConfig`)
  for (const [index, { conditionType = '' }] of (spec.readinessGates ?? []).entries()) {
    const at = `${field}.readinessGates[${index}].conditionType`
    invalidAll(errors, at, conditionType, qualifiedName(conditionType))
  }
  validateSchedulingGates(spec.schedulingGates, errors, `${field}.schedulingGates`)
  validateTopologySpread(
    spec.topologySpreadConstraints,
    errors,
    `${field}.topologySpreadConstraints`,
  )
  validateHostProcesses(spec, errors, field)
  validateHostUsers(spec, errors, field)
  validateHostnameOverride(spec, errors, `${field}.hostnameOverride`)
  validateIdentity(spec, errors, field)
  validateFileKeyVolumes(spec, errors, field)
  if (spec.schedulingGroup)
    validateSchedulingGroup(spec.schedulingGroup, errors, `${field}.schedulingGroup`)
}

function validateSchedulingGroup(
  { podGroupName }: StoredOf<PodSchedulingGroup>,
  errors: FieldErrors,
  field: string,
): void {
  const at = `${field}.podGroupName`
  if (podGroupName === undefined) errors.invalid(at, null, 'must specify one of: `podGroupName`')
  else invalidAll(errors, at, podGroupName, dnsSubdomain(podGroupName))
}

const HOSTNAME_LIMIT = 64

function validateHostnameOverride(
  spec: StoredOf<PodSpec>,
  errors: FieldErrors,
  field: string,
): void {
  const name: string | undefined = spec.hostnameOverride
  if (name === undefined) return
  if (spec.setHostnameAsFQDN === true)
    errors.forbidden(field, 'may not be specified when setHostnameAsFQDN is true')
  if (spec.hostNetwork === true)
    errors.forbidden(field, 'may not be specified when hostNetwork is true')
  if (name.length > HOSTNAME_LIMIT) errors.tooLong(field, HOSTNAME_LIMIT)
  invalidAll(errors, field, name, dnsSubdomain(name))
}

/** Variables that are read from files: their volume must be an emptyDir, which init containers fill. */
function validateFileKeyVolumes(spec: StoredOf<PodSpec>, errors: FieldErrors, field: string): void {
  for (const { container, field: at } of visitContainers(spec, field)) {
    for (const [index, variable] of (container.env ?? []).entries()) {
      const reference = variable.valueFrom?.fileKeyRef
      if (!reference) continue
      const name: string = reference.volumeName ?? ''
      const named = `${at}.env[${index}].valueFrom.fileKeyRef.volumeName`
      const volume = (spec.volumes ?? []).find((candidate) => candidate.name === name)
      if (!volume) errors.notFound(named, name)
      else if (!volume.emptyDir)
        errors.invalid(named, name, 'referenced volume must be of type emptyDir')
    }
  }
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
function validateIdentity(spec: StoredOf<PodSpec>, errors: FieldErrors, field: string): void {
  const named = (
    name: 'serviceAccountName' | 'nodeName' | 'hostname' | 'subdomain' | 'priorityClassName',
    check: (value: string) => readonly string[],
  ): void => {
    const value = spec[name]
    if (value) invalidAll(errors, `${field}.${name}`, value, check(value))
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
  for (const [index, alias] of (spec.hostAliases ?? []).entries()) {
    const at = `${field}.hostAliases[${index}]`
    validateIp(alias.ip ?? '', errors, `${at}.ip`)
    for (const [position, name] of (alias.hostnames ?? []).entries())
      invalidAll(errors, `${at}.hostnames[${position}]`, name, dnsSubdomain(name))
  }
  named('priorityClassName', dnsSubdomain)
  // An empty name of a class is a bad name, unlike the others.
  if (spec.runtimeClassName !== undefined)
    invalidAll(
      errors,
      `${field}.runtimeClassName`,
      spec.runtimeClassName,
      dnsSubdomain(spec.runtimeClassName),
    )
  if (spec.preemptionPolicy !== undefined)
    oneOf(
      spec.preemptionPolicy,
      ['PreemptLowerPriority', 'Never'],
      errors,
      `${field}.preemptionPolicy`,
    )
  validateResourceRequirements({ limits: spec.overhead }, errors, `${field}.overhead`)
  validateOperatingSystem(spec, errors, field)
}

/** Templates may leave host ports out: the pod gets them. */
function validateHostNetworkPorts(
  spec: StoredOf<PodSpec>,
  errors: FieldErrors,
  field: string,
  ofPod: boolean,
): void {
  if (spec.hostNetwork !== true) return
  for (const [index, container] of (spec.containers ?? []).entries()) {
    for (const [position, port] of (container.ports ?? []).entries()) {
      const { hostPort = 0, containerPort = 0 } = port
      if (hostPort === containerPort || (hostPort === 0 && !ofPod)) continue
      errors.invalid(
        `${field}[${index}].ports[${position}].hostPort`,
        hostPort,
        'must match `containerPort` when `hostNetwork` is true',
      )
    }
  }
}

function validateResourceClaims(
  claims: readonly StoredOf<PodResourceClaim>[] | undefined,
  errors: FieldErrors,
  field: string,
): ReadonlySet<string> {
  const names = new Set<string>()
  for (const [index, claim] of (claims ?? []).entries()) {
    const at = `${field}[${index}]`
    if (!claim.name) errors.required(`${at}.name`)
    else if (names.has(claim.name)) errors.duplicate(`${at}.name`, claim.name)
    else invalidAll(errors, `${at}.name`, claim.name, dnsLabel(claim.name))
    names.add(claim.name ?? '')
    if (claim.resourceClaimName !== undefined && claim.resourceClaimTemplateName !== undefined) {
      errors.invalid(
        at,
        claimForm(claim),
        'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
      )
    }
    if (claim.resourceClaimName === undefined && claim.resourceClaimTemplateName === undefined) {
      errors.invalid(
        at,
        claimForm(claim),
        'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
      )
    }
    for (const source of ['resourceClaimName', 'resourceClaimTemplateName'] as const)
      if (claim[source] !== undefined)
        invalidAll(errors, `${at}.${source}`, claim[source], dnsSubdomain(claim[source]))
  }
  return names
}

function claimForm(claim: StoredOf<PodResourceClaim>): Stored {
  return {
    Name: claim.name ?? '',
    ResourceClaimName: claim.resourceClaimName ?? null,
    ResourceClaimTemplateName: claim.resourceClaimTemplateName ?? null,
  }
}

function validateDnsConfig(spec: StoredOf<PodSpec>, errors: FieldErrors, field: string): void {
  const config = spec.dnsConfig
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
  if (searches.join(' ').length > 2048)
    errors.invalid(
      `${field}.searches`,
      searches,
      'must not have more than 2048 characters (including spaces) in the search list',
    )
  for (const [index, search] of searches.entries()) {
    if (search === '.') continue
    const name = search.endsWith('.') ? search.slice(0, -1) : search
    invalidAll(errors, `${field}.searches[${index}]`, name, underscoreSubdomain(name))
  }
  for (const [index, option] of (config.options ?? []).entries()) {
    if (!option.name) errors.required(`${field}.options[${index}]`, 'must not be empty')
  }
}

/** Labels, annotations and spec of a template. Templates never hold ephemeral containers. */
export function validateTemplate(
  template: StoredOf<PodTemplateSpec>,
  errors: FieldErrors,
  field: string,
): void {
  const { metadata, spec = {} } = template
  validateTemplateMetadata(metadata, errors, field)
  validatePodAnnotations(metadata?.annotations, spec, errors, `${field}.annotations`)
  validatePodSpec(spec, errors, `${field}.spec`)
  validateProfileAnnotations(metadata?.annotations, spec, errors, `${field}.spec`)
  if ((spec.ephemeralContainers ?? []).length > 0) {
    errors.forbidden(
      `${field}.spec.ephemeralContainers`,
      'ephemeral containers not allowed in pod template',
    )
  }
}

/** Metadata and spec of a pod; what only pods are asked for comes last. */
export function validatePod(object: StoredOf<Pod>, errors: FieldErrors): void {
  const { metadata, spec = {} } = object
  validatePodAnnotations(metadata?.annotations, spec, errors, 'metadata.annotations')
  validatePodSpec(spec, errors, 'spec', metadata?.name ?? '')
  if (!spec.serviceAccountName) {
    for (const [index, volume] of (spec.volumes ?? []).entries()) {
      for (const [position, source] of (volume.projected?.sources ?? []).entries()) {
        if (source.serviceAccountToken)
          errors.forbidden(
            `spec.volumes[${index}].projected.sources[${position}].serviceAccountToken`,
            'must not be specified when serviceAccountName is not set',
          )
      }
    }
  }
  for (const list of ['containers', 'initContainers'] as const)
    for (const [index, container] of (spec[list] ?? []).entries())
      validateTrimmedImage(container, errors, `spec.${list}[${index}]`)
}
