/** Counters that devices of a pool share, and what a device takes of them. */
import type { Counter, CounterSet, DeviceCounterConsumption } from '@gyropilot/api'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import type { StoredOf } from '../../registry/kind-rules.ts'
import { refuseRepeated, validateCount, validateLabelName } from './device-fields.ts'

const SETS_MAX = 8
const CONSUMED_SETS_MAX = 2
const COUNTERS_MAX = 32

export function validateSharedCounters(
  sets: readonly StoredOf<CounterSet>[],
  errors: FieldErrors,
): void {
  const field = 'spec.sharedCounters'
  if (!validateCount(sets, SETS_MAX, errors, field)) return
  for (const [index, { name = '', counters }] of sets.entries()) {
    const at = `${field}[${index}]`
    if (name === '') errors.required(`${at}.name`)
    else validateLabelName(name, errors, `${at}.name`)
    validateCounters(counters ?? {}, errors, `${at}.counters`)
  }
  refuseRepeated(sets, ({ name = '' }) => name, errors, field)
}

export function validateConsumption(
  consumed: readonly StoredOf<DeviceCounterConsumption>[],
  errors: FieldErrors,
  field: string,
): void {
  if (!validateCount(consumed, CONSUMED_SETS_MAX, errors, field)) return
  for (const [index, { counterSet = '', counters }] of consumed.entries()) {
    const at = `${field}[${index}]`
    if (counterSet === '') errors.required(`${at}.counterSet`)
    else validateLabelName(counterSet, errors, `${at}.counterSet`)
    validateCounters(counters ?? {}, errors, `${at}.counters`)
  }
  refuseRepeated(consumed, ({ counterSet = '' }) => counterSet, errors, field)
}

function validateCounters(
  counters: Readonly<Record<string, StoredOf<Counter>>>,
  errors: FieldErrors,
  field: string,
): void {
  const names = Object.keys(counters).toSorted()
  if (names.length === 0) errors.required(field)
  else if (validateCount(names, COUNTERS_MAX, errors, field))
    for (const name of names) validateLabelName(name, errors, field)
}
