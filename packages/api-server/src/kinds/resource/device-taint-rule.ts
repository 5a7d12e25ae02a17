import type { DeviceTaintRule } from '@gyropilot/api'
import { parseTime } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import type { DraftOf, KindRules, RuleContext, StoredOf } from '../../registry/kind-rules.ts'
import { keep } from '../../registry/kept-field.ts'
import { formatAge } from '../../printing/ages.ts'
import { tableColumns } from '../columns.ts'
import { validateConditions } from '../conditions.ts'
import {
  validateCount,
  validateDriver,
  validateLabelName,
  validatePoolName,
  validateTaint,
} from './device-fields.ts'

const CONDITIONS_MAX = 8

/** A taint that has another effect from now on begins now, unless another time is given with it. */
function dateNewEffect(
  { spec }: DraftOf<DeviceTaintRule>,
  before: StoredOf<DeviceTaintRule>,
  { nowMs }: RuleContext,
): void {
  const taint = spec?.taint
  const old = before.spec?.taint
  if (!taint || taint.effect === old?.effect) return
  if (parseTime(taint.timeAdded) === parseTime(old?.timeAdded)) taint.timeAdded = formatTime(nowMs)
}

function validateRule({ spec }: StoredOf<DeviceTaintRule>, errors: FieldErrors): void {
  const { driver, pool, device } = spec?.deviceSelector ?? {}
  if (driver !== undefined) validateDriver(driver, errors, 'spec.deviceSelector.driver')
  if (pool !== undefined) validatePoolName(pool, errors, 'spec.deviceSelector.pool')
  if (device !== undefined) validateLabelName(device, errors, 'spec.deviceSelector.device')
  validateTaint(spec?.taint ?? {}, errors, 'spec.taint')
}

/** With gate DRADeviceTaintRules others look at it. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "DeviceTaintRule". */
export const deviceTaintRule: KindRules<DeviceTaintRule> = {
  group: 'resource.k8s.io',
  kind: 'DeviceTaintRule',
  /** A taint without a time begins now. */
  defaultTimes({ spec }, nowMs) {
    if (spec?.taint) spec.taint.timeAdded ??= formatTime(nowMs)
  },
  prepareForUpdate(object, stored, context) {
    keep(object, stored, 'status')
    dateNewEffect(object, stored, context)
  },
  validate: validateRule,
  status: {
    validateUpdate({ status }, _stored, errors) {
      const conditions = status?.conditions ?? []
      validateConditions(conditions, errors, 'status.conditions')
      validateCount(conditions, CONDITIONS_MAX, errors, 'status.conditions')
    },
  },
  columns: tableColumns<DeviceTaintRule>('resource.k8s.io/devicetaintrules', {
    Key: ({ spec }) => spec?.taint?.key ?? '',
    Value: ({ spec }) => spec?.taint?.value ?? '',
    Effect: ({ spec }) => spec?.taint?.effect ?? '',
    TimeAdded: ({ spec }, nowMs) => formatAge(spec?.taint?.timeAdded, nowMs),
  }),
}
