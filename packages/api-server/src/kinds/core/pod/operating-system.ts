/** What pods of one operating system may not ask for, and what host processes and user namespaces demand of the whole pod. */
import type { PodSpec } from '@gyropilot/api'
import type { Stored, StoredOf } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { visitContainers } from './annotations.ts'

const SYSTEMS = ['linux', 'windows']

/** Fields in the order in which they are reported; the host's name spaces stand in the spec itself. */
const LINUX_ONLY_POD = [
  'securityContext.appArmorProfile',
  'securityContext.seLinuxOptions',
  'hostUsers',
  'hostPID',
  'hostIPC',
  'securityContext.seccompProfile',
  'securityContext.fsGroup',
  'securityContext.fsGroupChangePolicy',
  'securityContext.sysctls',
  'shareProcessNamespace',
  'securityContext.runAsUser',
  'securityContext.runAsGroup',
  'securityContext.supplementalGroups',
  'securityContext.supplementalGroupsPolicy',
  'securityContext.seLinuxChangePolicy',
]
const LINUX_ONLY_CONTAINER = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
]

/** `hostPID: false` is the same as none. */
function isSet(holder: Stored | undefined, name: string): boolean {
  const value: unknown = holder?.[name]
  if (name === 'hostPID' || name === 'hostIPC') return value === true
  return value !== undefined && !(Array.isArray(value) && value.length === 0)
}

export function validateOperatingSystem(
  spec: StoredOf<PodSpec>,
  errors: FieldErrors,
  field: string,
): void {
  if (!spec.os) return
  const name: string = spec.os.name ?? ''
  if (name === '') errors.required(`${field}.os.name`)
  else if (!SYSTEMS.includes(name)) errors.notSupported(`${field}.os`, name, SYSTEMS)
  else if (name === 'linux') refuseWindowsOptions(spec, errors, field)
  else refuseLinuxOptions(spec, errors, field)
}

function refuseWindowsOptions(spec: StoredOf<PodSpec>, errors: FieldErrors, field: string): void {
  const holders = [{ container: spec, field }, ...visitContainers(spec, field)]
  for (const { container, field: at } of holders) {
    if (container.securityContext?.windowsOptions)
      errors.forbidden(
        `${at}.securityContext.windowsOptions`,
        'windows options cannot be set for a linux pod',
      )
  }
}

function refuseLinuxOptions(spec: StoredOf<PodSpec>, errors: FieldErrors, field: string): void {
  const refuse = (at: string): void => errors.forbidden(at, 'cannot be set for a windows pod')
  for (const path of LINUX_ONLY_POD) {
    const [first, second] = path.split('.')
    const set = second === undefined ? isSet(spec, first!) : isSet(spec.securityContext, second)
    if (set) refuse(`${field}.${path}`)
  }
  for (const { container, field: at } of visitContainers(spec, field)) {
    for (const name of LINUX_ONLY_CONTAINER)
      if (isSet(container.securityContext, name)) refuse(`${at}.securityContext.${name}`)
  }
}

/** Windows containers that run on the host: all of a pod's, or none. */
export function validateHostProcesses(
  spec: StoredOf<PodSpec>,
  errors: FieldErrors,
  field: string,
): void {
  const ofPod: boolean | undefined = spec.securityContext?.windowsOptions?.hostProcess
  const containers = visitContainers(spec, field)
  let count = 0
  for (const { container, field: at } of containers) {
    const own: boolean | undefined = container.securityContext?.windowsOptions?.hostProcess
    if (ofPod !== undefined && own !== undefined && ofPod !== own)
      errors.invalid(
        `${at}.securityContext.windowsOptions.hostProcess`,
        own,
        `pod hostProcess value must be identical if both are specified, was ${ofPod}`,
      )
    if (own ?? ofPod) count++
  }
  if (count === 0) return
  if (count !== containers.length)
    errors.invalid(
      field,
      '',
      'If pod contains any hostProcess containers then all containers must be HostProcess containers',
    )
  if (spec.hostNetwork !== true)
    errors.invalid(
      `${field}.hostNetwork`,
      false,
      'hostNetwork must be true if pod contains any hostProcess containers',
    )
}

/** A user namespace of its own excludes the host's other name spaces, and devices. */
export function validateHostUsers(
  spec: StoredOf<PodSpec>,
  errors: FieldErrors,
  field: string,
): void {
  if (spec.hostUsers !== false) return
  const refuse = (at: string): void => errors.forbidden(at, 'when `hostUsers` is false')
  if (spec.hostNetwork === true) refuse(`${field}.hostNetwork`)
  if (spec.hostPID === true) refuse(`${field}.HostPID`)
  if (spec.hostIPC === true) refuse(`${field}.HostIPC`)
  for (const { container, field: at } of visitContainers(spec, field))
    if ((container.volumeDevices ?? []).length > 0) refuse(`${at}.volumeDevices`)
}
