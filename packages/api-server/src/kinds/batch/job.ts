/** Jobs. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "batch". */
import type { Job, JobSpec } from '@gyropilot/api'
import type { DraftOf, KindRules, StoredOf } from '../../registry/kind-rules.ts'
import { formatShortDuration } from '../../printing/ages.ts'
import { containerCells, selectorText, tableColumns } from '../columns.ts'
import { defaultTemplate } from '../core/pod/defaults.ts'
import { hasLabelsOfTemplate, labelsFromTemplate } from '../workload-template.ts'
import { isSpecifiedAnew, podTemplateWarnings, workloadNameWarnings } from '../core/pod/warnings.ts'
import { indexWarnings, validateJobSpec } from './job-spec.ts'
import { validateJobStatusUpdate } from './job-status.ts'
import { validateJobUpdate } from './job-update.ts'

const UID_LABEL = 'batch.kubernetes.io/controller-uid'
const NAME_LABEL = 'batch.kubernetes.io/job-name'

function defaults(object: DraftOf<Job>): void {
  const spec = (object.spec ??= {})
  if (spec.completions === undefined && spec.parallelism === undefined) {
    spec.completions = 1
    spec.parallelism = 1
  }
  spec.parallelism ??= 1
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : 2147483647
  labelsFromTemplate(object)
  spec.completionMode ??= 'NonIndexed'
  spec.suspend ??= false
  spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed'
  spec.manualSelector ??= false
  defaultFailurePolicy(spec)
  defaultTemplate(spec.template)
}

/** Also of the jobs to be, which get no other defaults. */
export function defaultFailurePolicy(spec: DraftOf<JobSpec> | undefined): void {
  for (const rule of spec?.podFailurePolicy?.rules ?? []) {
    for (const pattern of rule.onPodConditions ?? []) pattern.status ||= 'True'
  }
}

/** A policy without rules is written as one of which none are known. */
export function writeFailurePolicy(spec: DraftOf<JobSpec> | undefined): void {
  const policy = spec?.podFailurePolicy
  if (policy && !policy.rules?.length) policy.rules = null!
}

/** Without manualSelector the pods of a job are told by its uid. */
function generateSelector(object: DraftOf<Job>): void {
  const spec = (object.spec ??= {})
  const metadata = (object.metadata ??= {})
  if (spec.manualSelector === true) return
  spec.template ??= { metadata: {}, spec: {} }
  const labels: Record<string, string> = { ...spec.template.metadata?.labels }
  const { uid = '', name = '' } = metadata
  labels['controller-uid'] ??= uid
  labels[UID_LABEL] ??= uid
  labels[NAME_LABEL] ??= name
  labels['job-name'] ??= name
  spec.template.metadata = { ...spec.template.metadata, labels }
  // What a job has from its template it has with what the server adds to it.
  if (hasLabelsOfTemplate(object)) metadata.labels = { ...labels }
  spec.selector ??= {}
  spec.selector.matchLabels = { ...spec.selector.matchLabels, [UID_LABEL]: uid }
}

function statusText(object: StoredOf<Job>): string {
  const condition = (type: string): boolean =>
    (object.status?.conditions ?? []).find((entry) => entry.type === type)?.status === 'True'
  if (condition('Complete')) return 'Complete'
  if (condition('Failed')) return 'Failed'
  if (object.metadata?.deletionTimestamp) return 'Terminating'
  if (condition('Suspended')) return 'Suspended'
  if (condition('FailureTarget')) return 'FailureTarget'
  if (condition('SuccessCriteriaMet')) return 'SuccessCriteriaMet'
  return 'Running'
}

function completionsText(object: StoredOf<Job>): string {
  const { completions, parallelism = 0 } = object.spec ?? {}
  const succeeded = object.status?.succeeded ?? 0
  if (completions !== undefined) return `${succeeded}/${completions}`
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function durationText(object: StoredOf<Job>, nowMs: number): string {
  const { startTime, completionTime } = object.status ?? {}
  if (!startTime) return ''
  return formatShortDuration(
    (completionTime ? Date.parse(completionTime) : nowMs) - Date.parse(startTime),
  )
}

export const job: KindRules<Job> = {
  group: 'batch',
  kind: 'Job',
  defaults,
  prepareForCreate(object) {
    generateSelector(object)
    object.status = {}
  },
  prepareForUpdate(object, stored) {
    if (stored.status === undefined) delete object.status
    else object.status = stored.status
  },
  canonicalize(object) {
    // Reading from the store applies defaults again, now with the generated labels.
    labelsFromTemplate(object)
    writeFailurePolicy(object.spec)
  },
  validate: (object, errors) => validateJobSpec(object, errors),
  validateUpdate: validateJobUpdate,
  status: { validateUpdate: validateJobStatusUpdate },
  selectableFields: { 'status.successful': (object) => String(object.status?.succeeded ?? 0) },
  defaultDeletionPolicy: 'Orphan',
  warnings(object, stored) {
    if (!isSpecifiedAnew(object, stored)) return []
    return [
      ...workloadNameWarnings(object, stored),
      ...indexWarnings(object.spec, 'spec'),
      ...podTemplateWarnings(object.spec?.template),
    ]
  },
  columns: tableColumns('batch/jobs', {
    Status: statusText,
    Completions: completionsText,
    Duration: durationText,
    ...containerCells,
    Selector: (object) => selectorText(object.spec?.selector),
  }),
}
