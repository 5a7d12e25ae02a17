import type { Container, CronJob, CronJobSpec, PodTemplateSpec } from '@gyropilot/api'
import { CronSchedule, isKnownTimeZone } from '@gyropilot/api'
import type { KindRules, StoredOf } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { validateNonNegative } from '@gyropilot/schema/validation/numbers'
import { formatAge } from '../../printing/ages.ts'
import { selectorText, tableColumns } from '../columns.ts'
import { defaultTemplate } from '../core/pod/defaults.ts'
import { isSpecifiedAnew, podSpecWarnings, workloadNameWarnings } from '../core/pod/warnings.ts'
import { defaultFailurePolicy, writeFailurePolicy } from './job.ts'
import { indexWarnings, validateSpecFields } from './job-spec.ts'
import { printedSelector } from '../workload-template.ts'

const POLICIES = ['Allow', 'Forbid', 'Replace']
const MAX_NAME = 52

function validateSchedule(spec: StoredOf<CronJobSpec>, errors: FieldErrors): void {
  const schedule: string = spec.schedule ?? ''
  if (schedule === '') {
    errors.required('spec.schedule')
    return
  }
  const problem = CronSchedule.parse(schedule)
  if (typeof problem === 'string') errors.invalid('spec.schedule', schedule, problem)
  if (schedule.includes('TZ'))
    errors.invalid(
      'spec.schedule',
      schedule,
      'cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
    )
}

function validateTimeZone(zone: string | undefined, errors: FieldErrors): void {
  if (zone === undefined) return
  if (zone === '') errors.invalid('spec.timeZone', zone, 'timeZone must be nil or non-empty string')
  else if (zone.toLowerCase() === 'local')
    errors.invalid(
      'spec.timeZone',
      zone,
      'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
    )
  else if (!isKnownTimeZone(zone))
    errors.invalid('spec.timeZone', zone, `unknown time zone ${zone}`)
}

function validateSpec(object: StoredOf<CronJob>, errors: FieldErrors): void {
  const spec = object.spec ?? {}
  validateSchedule(spec, errors)
  validateNonNegative(spec.startingDeadlineSeconds, errors, 'spec.startingDeadlineSeconds')
  validateTimeZone(spec.timeZone, errors)
  if (!spec.concurrencyPolicy) errors.required('spec.concurrencyPolicy')
  else if (!POLICIES.includes(spec.concurrencyPolicy))
    errors.notSupported('spec.concurrencyPolicy', spec.concurrencyPolicy, POLICIES)
  const jobSpec = spec.jobTemplate?.spec ?? {}
  validateSpecFields(jobSpec, errors, 'spec.jobTemplate.spec')
  if (jobSpec.selector)
    errors.invalid(
      'spec.jobTemplate.spec.selector',
      printedSelector(jobSpec.selector),
      '`selector` will be auto-generated',
    )
  if (jobSpec.manualSelector === true)
    errors.notSupported('spec.jobTemplate.spec.manualSelector', true, ['nil', 'false'])
  validateNonNegative(spec.successfulJobsHistoryLimit, errors, 'spec.successfulJobsHistoryLimit')
  validateNonNegative(spec.failedJobsHistoryLimit, errors, 'spec.failedJobsHistoryLimit')
}

const template = (object: StoredOf<CronJob>): StoredOf<PodTemplateSpec> =>
  object.spec?.jobTemplate?.spec?.template ?? {}
const containers = (object: StoredOf<CronJob>): readonly StoredOf<Container>[] =>
  template(object).spec?.containers ?? []

const SUSPENDED: Readonly<Record<string, string>> = { true: 'True', false: 'False' }

export const cronJob: KindRules<CronJob> = {
  group: 'batch',
  kind: 'CronJob',
  defaults(object) {
    const spec = (object.spec ??= {})
    spec.concurrencyPolicy ||= 'Allow'
    spec.suspend ??= false
    spec.successfulJobsHistoryLimit ??= 3
    spec.failedJobsHistoryLimit ??= 1
    defaultFailurePolicy(spec.jobTemplate?.spec)
    defaultTemplate(spec.jobTemplate?.spec?.template)
  },
  canonicalize: ({ spec }) => writeFailurePolicy(spec?.jobTemplate?.spec),
  validate(object, errors) {
    validateSpec(object, errors)
    const name: string = object.metadata?.name ?? ''
    if (name.length > MAX_NAME)
      errors.invalid('metadata.name', name, `must be no more than ${MAX_NAME} characters`)
  },
  updateOrder: 'update-only',
  validateUpdate: (object, _stored, errors) => validateSpec(object, errors),
  warnings(object, stored) {
    if (!isSpecifiedAnew(object, stored)) return []
    const { spec = {}, metadata } = template(object)
    return [
      ...workloadNameWarnings(object, stored),
      ...indexWarnings(object.spec?.jobTemplate?.spec, 'spec.jobTemplate.spec'),
      ...podSpecWarnings(spec, metadata, 'spec.jobTemplate.spec.template.spec'),
    ]
  },
  columns: tableColumns('batch/cronjobs', {
    Schedule: (object) => object.spec?.schedule ?? '',
    Timezone: (object) => object.spec?.timeZone ?? '<none>',
    Suspend: (object) => SUSPENDED[String(object.spec?.suspend)] ?? '<unset>',
    Active: (object) => (object.status?.active ?? []).length,
    'Last Schedule': (object, nowMs) =>
      object.status?.lastScheduleTime ? formatAge(object.status.lastScheduleTime, nowMs) : '<none>',
    Containers: (object) =>
      containers(object)
        .map(({ name }) => name)
        .join(','),
    Images: (object) =>
      containers(object)
        .map(({ image }) => image)
        .join(','),
    Selector: (object) => selectorText(object.spec?.jobTemplate?.spec?.selector),
  }),
}
