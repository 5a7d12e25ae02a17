/** Containers, init containers and ephemeral containers. */
import type {
  Container,
  ContainerRestartRule,
  ContainerPort,
  ContainerResizePolicy,
  PodSpec,
  Volume,
} from '@gyropilot/api'
import { givenValue } from '@gyropilot/schema/decode'
import type { Stored, StoredOf } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { dnsLabel, portName } from '@gyropilot/schema/validation/names'
import { validatePortNumber } from '@gyropilot/schema/validation/numbers'
import { validateEnv, validateEnvFrom } from './env.ts'
import { validateProbesAndHooks } from './probes.ts'
import { validateResourceRequirements } from './resources.ts'
import { validateContainerSecurityContext } from './security.ts'
import { validateMounts } from './volumes.ts'

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never']
const RESTART_POLICIES = ['Always', 'Never', 'OnFailure']
const RESIZED = ['cpu', 'memory']
const RESIZE_POLICIES = ['NotRequired', 'RestartContainer']
const PROTOCOLS = ['SCTP', 'TCP', 'UDP']

interface PodOfContainer {
  readonly spec: StoredOf<PodSpec>
  readonly volumes: ReadonlyMap<string, StoredOf<Volume>>
  readonly claims: ReadonlySet<string>
  readonly graceSeconds: number
}

function validateCommon(
  container: StoredOf<Container>,
  pod: PodOfContainer,
  errors: FieldErrors,
  field: string,
): void {
  if (!container.name) errors.required(`${field}.name`)
  else invalidAll(errors, `${field}.name`, container.name, dnsLabel(container.name))
  const image: string = container.image ?? ''
  if (image === '') errors.required(`${field}.image`)
  const policy: string = container.terminationMessagePolicy ?? ''
  if (policy === '') errors.required(`${field}.terminationMessagePolicy`)
  else if (policy !== 'File' && policy !== 'FallbackToLogsOnError') {
    errors.notSupported(`${field}.terminationMessagePolicy`, policy, [
      'File',
      'FallbackToLogsOnError',
    ])
  }
  validatePorts(container.ports, errors, `${field}.ports`)
  validateEnv(container.env, errors, `${field}.env`)
  validateEnvFrom(container.envFrom, errors, `${field}.envFrom`)
  validateMounts(container, pod.volumes, errors, field)
  if (!container.imagePullPolicy) errors.required(`${field}.imagePullPolicy`)
  else if (!PULL_POLICIES.includes(container.imagePullPolicy))
    errors.notSupported(`${field}.imagePullPolicy`, container.imagePullPolicy, PULL_POLICIES)
  validateResourceRequirements(container.resources, errors, `${field}.resources`, pod.claims)
  validateResizePolicy(
    container.resizePolicy,
    pod.spec.restartPolicy,
    errors,
    `${field}.resizePolicy`,
  )
  validateContainerSecurityContext(
    container.securityContext,
    pod.spec.hostUsers !== false,
    errors,
    `${field}.securityContext`,
  )
}

/** Templates may hold placeholders with blanks; pods may not. */
export function validateTrimmedImage(
  container: StoredOf<Container>,
  errors: FieldErrors,
  field: string,
): void {
  const image: string = container.image ?? ''
  if (image !== image.trim())
    errors.invalid(`${field}.image`, image, 'must not have leading or trailing whitespace')
}

function validatePorts(
  ports: readonly StoredOf<ContainerPort>[] | undefined,
  errors: FieldErrors,
  field: string,
): void {
  const names = new Set<string>()
  for (const [index, port] of (ports ?? []).entries()) {
    const at = `${field}[${index}]`
    if (port.name) {
      const messages = portName(port.name)
      invalidAll(errors, `${at}.name`, port.name, messages)
      if (messages.length === 0) {
        if (names.has(port.name)) errors.duplicate(`${at}.name`, port.name)
        names.add(port.name)
      }
    }
    if (!port.containerPort) errors.required(`${at}.containerPort`)
    else validatePortNumber(port.containerPort, errors, `${at}.containerPort`)
    if (port.hostPort) validatePortNumber(port.hostPort, errors, `${at}.hostPort`)
    if (!port.protocol) errors.required(`${at}.protocol`)
    else if (!PROTOCOLS.includes(port.protocol))
      errors.notSupported(`${at}.protocol`, port.protocol, PROTOCOLS)
  }
}

function validateResizePolicy(
  policies: readonly StoredOf<ContainerResizePolicy>[] | undefined,
  podPolicy: string | undefined,
  errors: FieldErrors,
  field: string,
): void {
  const seen = new Set<string>()
  for (const [index, policy] of (policies ?? []).entries()) {
    const { resourceName = '', restartPolicy = '' } = policy
    if (seen.has(resourceName)) errors.duplicate(`${field}[${index}]`, resourceName)
    seen.add(resourceName)
    if (resourceName === '') errors.required(field)
    else if (!RESIZED.includes(resourceName)) errors.notSupported(field, resourceName, RESIZED)
    if (restartPolicy === '') errors.required(field)
    else if (!RESIZE_POLICIES.includes(restartPolicy))
      errors.notSupported(field, restartPolicy, RESIZE_POLICIES)
    if (podPolicy === 'Never' && restartPolicy !== 'NotRequired')
      errors.invalid(
        field,
        restartPolicy,
        "must be 'NotRequired' when pod `restartPolicy` is 'Never'",
      )
  }
}

function checkHostPorts(
  containers: readonly StoredOf<Container>[],
  errors: FieldErrors,
  field: string,
): void {
  const seen = new Set<string>()
  for (const [index, container] of containers.entries()) {
    for (const [position, port] of (container.ports ?? []).entries()) {
      if (!port.hostPort) continue
      const key = `${port.protocol}/${port.hostIP ?? ''}/${port.hostPort}`
      if (seen.has(key)) errors.duplicate(`${field}[${index}].ports[${position}].hostPort`, key)
      seen.add(key)
    }
  }
}

export function validateContainers(
  pod: PodOfContainer,
  names: Set<string>,
  errors: FieldErrors,
  field: string,
): void {
  const containers = pod.spec.containers ?? []
  if (containers.length === 0) {
    errors.required(field)
    return
  }
  for (const [index, container] of containers.entries()) {
    const at = `${field}[${index}]`
    validateCommon(container, pod, errors, at)
    // Those without a name have one name.
    if (names.has(container.name ?? '')) errors.duplicate(`${at}.name`, container.name ?? '')
    names.add(container.name ?? '')
    validateProbesAndHooks(container, pod.graceSeconds, errors, at)
    validateRestartPolicy(container, errors, at)
    validateRestartRules(container.restartPolicyRules ?? [], errors, `${at}.restartPolicyRules`)
  }
  checkHostPorts(containers, errors, field)
}

const RULE_ACTIONS = ['Restart', 'RestartAllContainers']
const RULE_OPERATORS = ['In', 'NotIn']

function validateRestartPolicy(
  container: StoredOf<Container>,
  errors: FieldErrors,
  field: string,
): void {
  const policy: string | undefined = container.restartPolicy
  if (policy === undefined) {
    if ((container.restartPolicyRules ?? []).length > 0)
      errors.required(
        `${field}.restartPolicy`,
        'must specify restartPolicy when restart rules are used',
      )
  } else if (!RESTART_POLICIES.includes(policy))
    errors.notSupported(`${field}.restartPolicy`, policy, RESTART_POLICIES)
}

function validateRestartRules(
  rules: readonly StoredOf<ContainerRestartRule>[],
  errors: FieldErrors,
  field: string,
): void {
  if (rules.length > 20) errors.tooMany(field, rules.length, 20)
  for (const [index, { action = '', exitCodes }] of rules.entries()) {
    const at = `${field}[${index}]`
    if (!RULE_ACTIONS.includes(action)) errors.notSupported(`${at}.action`, action, RULE_ACTIONS)
    if (!exitCodes) {
      errors.required(`${at}.exitCodes`, 'must be specified')
      continue
    }
    if (!RULE_OPERATORS.includes(exitCodes.operator ?? ''))
      errors.notSupported(`${at}.exitCodes.operator`, exitCodes.operator ?? '', RULE_OPERATORS)
    const values: readonly number[] = exitCodes.values ?? []
    if (values.length > 255) errors.tooMany(`${at}.exitCodes.values`, values.length, 255)
  }
}

/** Init containers share the name space of the regular ones; only sidecars have probes and hooks. */
export function validateInitContainers(
  pod: PodOfContainer,
  names: Set<string>,
  errors: FieldErrors,
  field: string,
): void {
  for (const [index, container] of (pod.spec.initContainers ?? []).entries()) {
    const at = `${field}[${index}]`
    validateCommon(container, pod, errors, at)
    validateRestartPolicy(container, errors, at)
    // Without a policy theirs are not looked at.
    if (container.restartPolicy !== undefined)
      validateRestartRules(container.restartPolicyRules ?? [], errors, `${at}.restartPolicyRules`)
    if (names.has(container.name ?? '')) errors.duplicate(`${at}.name`, container.name ?? '')
    else if (container.name) names.add(container.name)
    checkHostPorts([container], errors, field)
    if (container.restartPolicy === 'Always')
      validateProbesAndHooks(container, pod.graceSeconds, errors, at)
    else {
      for (const name of [
        'lifecycle',
        'livenessProbe',
        'readinessProbe',
        'startupProbe',
      ] as const) {
        if (container[name])
          errors.forbidden(
            `${at}.${name}`,
            'may not be set for init containers without restartPolicy=Always',
          )
      }
      for (const [position, { restartPolicy }] of (container.resizePolicy ?? []).entries()) {
        if (restartPolicy === 'RestartContainer')
          errors.invalid(
            `${at}.resizePolicy[${position}].restartPolicy`,
            restartPolicy,
            "must not be set to 'RestartContainer' for non-sidecar initContainers",
          )
      }
    }
  }
}

const EPHEMERAL_ALLOWED = new Set([
  'name',
  'image',
  'command',
  'args',
  'workingDir',
  'envFrom',
  'env',
  'volumeMounts',
  'volumeDevices',
  'terminationMessagePath',
  'terminationMessagePolicy',
  'imagePullPolicy',
  'securityContext',
  'stdin',
  'stdinOnce',
  'tty',
  'targetContainerName',
])

/** Set by lists that are empty too. */
const EPHEMERAL_REFUSED_LISTS = ['ports', 'resizePolicy', 'restartPolicyRules']

function isSet(container: Stored, name: string): boolean {
  const { resources = {} } = container
  if (name !== 'resources') return givenValue(container, name) !== null
  return ['limits', 'requests', 'claims'].some((member) => givenValue(resources, member) !== null)
}

export function validateEphemeralContainers(
  pod: PodOfContainer,
  errors: FieldErrors,
  field: string,
): void {
  const targets = new Set(
    [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])].map(({ name }) => name),
  )
  // An init container without a name takes that name too, though others of its kind may be without one.
  const taken = new Set([...targets].map((name = '') => name))
  for (const [index, container] of (pod.spec.ephemeralContainers ?? []).entries()) {
    const at = `${field}[${index}]`
    validateCommon(container, pod, errors, at)
    validateTrimmedImage(container, errors, at)
    const { name = '' } = container
    if (taken.has(name)) errors.duplicate(`${at}.name`, name)
    taken.add(name)
    if (container.targetContainerName && !targets.has(container.targetContainerName)) {
      errors.notFound(`${at}.targetContainerName`, container.targetContainerName)
    }
    for (const name of new Set([...Object.keys(container), ...EPHEMERAL_REFUSED_LISTS])) {
      if (!EPHEMERAL_ALLOWED.has(name) && isSet(container, name))
        errors.forbidden(`${at}.${name}`, 'cannot be set for an Ephemeral Container')
    }
    for (const [position, mount] of (container.volumeMounts ?? []).entries()) {
      if (mount.subPath)
        errors.forbidden(
          `${at}.volumeMounts[${position}].subPath`,
          'cannot be set for an Ephemeral Container',
        )
      if (mount.subPathExpr)
        errors.forbidden(
          `${at}.volumeMounts[${position}].subPathExpr`,
          'cannot be set for an Ephemeral Container',
        )
    }
  }
}
