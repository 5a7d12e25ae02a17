/** Probes and lifecycle hooks. */
import type { Container, HTTPGetAction, LifecycleHandler, Probe, SleepAction } from '@gyropilot/api'
import type { StoredOf } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { httpHeaderName } from '@gyropilot/schema/validation/names'
import {
  isNumber,
  validateNonNegative,
  validatePortNumber,
  validatePortOrName,
} from '@gyropilot/schema/validation/numbers'

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const

/** Exactly one handler; those after the first are forbidden, and not looked at. */
function validateHandler(
  handler: StoredOf<Pick<Probe, 'grpc'> & LifecycleHandler>,
  graceSeconds: number,
  errors: FieldErrors,
  field: string,
): void {
  let count = 0
  for (const name of HANDLERS) {
    if (!handler[name]) continue
    const at = `${field}.${name}`
    if (++count > 1) {
      errors.forbidden(at, 'may not specify more than 1 handler type')
      continue
    }
    if (name === 'exec') {
      if ((handler.exec?.command ?? []).length === 0) errors.required(`${at}.command`)
    } else if (name === 'httpGet') validateHttpGet(handler.httpGet ?? {}, errors, at)
    else if (name === 'sleep') validateSleep(handler.sleep ?? {}, graceSeconds, errors, at)
    else if (name === 'grpc') validatePortNumber(handler.grpc?.port, errors, `${at}.port`)
    else validatePortOrName(handler.tcpSocket?.port, errors, `${at}.port`)
  }
  if (count === 0) errors.required(field, 'must specify a handler type')
}

function validateSleep(
  action: StoredOf<SleepAction>,
  graceSeconds: number,
  errors: FieldErrors,
  field: string,
): void {
  const seconds = action.seconds ?? 0
  if (seconds < 0 || seconds > graceSeconds) {
    errors.invalid(
      field,
      seconds,
      `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`,
    )
  }
}

function validateHttpGet(
  action: StoredOf<HTTPGetAction>,
  errors: FieldErrors,
  field: string,
): void {
  if (!action.path) errors.required(`${field}.path`)
  validatePortOrName(action.port, errors, `${field}.port`)
  if (action.scheme !== 'HTTP' && action.scheme !== 'HTTPS') {
    errors.notSupported(`${field}.scheme`, action.scheme ?? '', ['HTTP', 'HTTPS'])
  }
  for (const header of action.httpHeaders ?? []) {
    invalidAll(errors, `${field}.httpHeaders`, header.name ?? '', httpHeaderName(header.name ?? ''))
  }
}

function validateProbe(
  probe: StoredOf<Probe>,
  graceSeconds: number,
  errors: FieldErrors,
  field: string,
): void {
  validateHandler(probe, graceSeconds, errors, field)
  for (const name of [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ] as const) {
    validateNonNegative(probe[name], errors, `${field}.${name}`)
  }
  const grace = probe.terminationGracePeriodSeconds
  if (isNumber(grace) && grace <= 0)
    errors.invalid(`${field}.terminationGracePeriodSeconds`, grace, 'must be greater than 0')
}

export function validateProbesAndHooks(
  container: StoredOf<Container>,
  graceSeconds: number,
  errors: FieldErrors,
  field: string,
): void {
  for (const hook of ['postStart', 'preStop'] as const) {
    if (container.lifecycle?.[hook])
      validateHandler(container.lifecycle[hook], graceSeconds, errors, `${field}.lifecycle.${hook}`)
  }
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
    const probe = container[name]
    if (!probe) continue
    validateProbe(probe, graceSeconds, errors, `${field}.${name}`)
    if (name === 'readinessProbe') {
      if (probe.terminationGracePeriodSeconds !== undefined) {
        errors.invalid(
          `${field}.${name}.terminationGracePeriodSeconds`,
          probe.terminationGracePeriodSeconds,
          'must not be set for readinessProbes',
        )
      }
    } else if (probe.successThreshold !== 1) {
      errors.invalid(`${field}.${name}.successThreshold`, probe.successThreshold ?? 0, 'must be 1')
    }
  }
}
