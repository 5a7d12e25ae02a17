import type { Event as EventsEvent } from '@gyropilot/api/events-v1'
import type { Event, ObjectReference } from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import type { KindRules, StoredOf } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { internalForm } from '@gyropilot/schema/internal-form'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { dnsSubdomain, qualifiedName } from '@gyropilot/schema/validation/names'
import { formatAge } from '../../printing/ages.ts'
import { column, nameColumn } from '../columns.ts'

type Selectable = NonNullable<KindRules<Event>['selectableFields']>

const REFERENCE = [
  'kind',
  'namespace',
  'name',
  'uid',
  'apiVersion',
  'resourceVersion',
  'fieldPath',
] as const

/** `referenceOf`: where an Event of the version has the object that it is about. */
function referenceFields<T>(
  reference: string,
  referenceOf: (object: StoredOf<T>) => StoredOf<ObjectReference> | undefined,
): NonNullable<KindRules<T>['selectableFields']> {
  return Object.fromEntries(
    REFERENCE.map((field) => [
      `${reference}.${field}`,
      (object: StoredOf<T>): string => referenceOf(object)?.[field] ?? '',
    ]),
  )
}

const reasonAndType: Selectable = {
  reason: (object) => object.reason ?? '',
  type: (object) => object.type ?? '',
}

const firstSeen = (object: StoredOf<Event>): string | undefined =>
  object.firstTimestamp ?? object.eventTime
const lastSeen = (object: StoredOf<Event>): string | undefined =>
  object.series ? object.series.lastObservedTime : (object.lastTimestamp ?? firstSeen(object))

function sourceText(object: StoredOf<Event>): string {
  const component = object.source?.component || object.reportingComponent || ''
  const host = object.source?.host || object.reportingInstance || ''
  return host === '' ? component : `${component}, ${host}`
}

function countOf(object: StoredOf<Event>): number {
  return object.series ? (object.series.count ?? 0) : object.count || 1
}

const columns = [
  column(
    'Last Seen',
    'string',
    'The time at which the most recent occurrence of this event was recorded.',
    (object, nowMs) => formatAge(lastSeen(object), nowMs),
  ),
  column(
    'Type',
    'string',
    'Type of this event (Normal, Warning), new types could be added in the future',
    (object) => object.type ?? '',
  ),
  column(
    'Reason',
    'string',
    "This should be a short, machine understandable string that gives the reason for the transition into the object's current status.",
    (object) => object.reason ?? '',
  ),
  column('Object', 'string', 'The object that this event is about.', (object) => {
    const kind = String(object.involvedObject?.kind ?? '').toLowerCase()
    const name: string = object.involvedObject?.name ?? ''
    return name === '' ? kind : `${kind}/${name}`
  }),
  column(
    'Subobject',
    'string',
    'If referring to a piece of an object instead of an entire object, this string should contain a valid JSON/Go field access statement, such as desiredState.manifest.containers[2]. For example, if the object reference is to a container within a pod, this would take on a value like: "spec.containers{name}" (where "name" refers to the name of the container that triggered the event) or if no container name is specified "spec.containers[2]" (container with index 2 in this pod). This syntax is chosen only to have some well-defined way of referencing a part of an object.',
    (object) => object.involvedObject?.fieldPath ?? '',
    1,
  ),
  column(
    'Source',
    'string',
    'The component reporting this event. Should be a short machine understandable string.',
    sourceText,
    1,
  ),
  column(
    'Message',
    'string',
    'A human-readable description of the status of this operation.',
    (object) => String(object.message ?? '').trim(),
  ),
  column(
    'First Seen',
    'string',
    'The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)',
    (object, nowMs) => formatAge(firstSeen(object), nowMs),
    1,
  ),
  column('Count', 'string', 'The number of times this event has occurred.', countOf, 1),
  { ...nameColumn, priority: 1 },
]

const NAME_LENGTH_MAX = 128
const MESSAGE_LENGTH_MAX = 1024

/** Events of the older form have no eventTime, and little is asked of them. `controller`: the field's name in the version. */
function validateEvent(object: StoredOf<Event>, controller: string, errors: FieldErrors): void {
  const { involvedObject = {}, eventTime } = object
  const namespace = object.metadata?.namespace ?? ''
  const about = involvedObject.namespace ?? ''
  const isForeign = eventTime
    ? about === '' && namespace !== 'default' && namespace !== 'kube-system'
    : about === ''
      ? namespace !== '' && namespace !== 'default'
      : namespace !== about
  if (isForeign) errors.invalid('involvedObject.namespace', about, 'does not match event.namespace')
  if (eventTime) validateReport(object, controller, errors)
  invalidAll(errors, 'namespace', namespace, dnsSubdomain(namespace))
}

function validateReport(object: StoredOf<Event>, controller: string, errors: FieldErrors): void {
  const reporter = object.reportingComponent ?? ''
  if (reporter === '') errors.required(controller)
  invalidAll(errors, controller, reporter, qualifiedName(reporter))
  for (const field of ['reportingInstance', 'action', 'reason'] as const) {
    const text = object[field] ?? ''
    if (text === '') errors.required(field)
    limitLength(text, NAME_LENGTH_MAX, field, errors)
  }
  limitLength(object.message ?? '', MESSAGE_LENGTH_MAX, 'message', errors)
}

function limitLength(text: string, maximum: number, field: string, errors: FieldErrors): void {
  if (Buffer.byteLength(text) > maximum)
    errors.invalid(field, '', `can have at most ${maximum} characters`)
}

function validateSeries({ series }: StoredOf<Event>, errors: FieldErrors): void {
  if (!series) return
  if ((series.count ?? 0) < 2) errors.invalid('series.count', '', 'should be at least 2')
  if (!series.lastObservedTime) errors.required('series.lastObservedTime')
}

export const event: KindRules<Event> = {
  group: '',
  kind: 'Event',
  name: 'path-segment',
  generationOf: null,
  createOnUpdate: true,
  validate: (object, errors) => validateEvent(object, 'reportingComponent', errors),
  selectableFields: {
    ...referenceFields<Event>('involvedObject', ({ involvedObject }) => involvedObject),
    ...reasonAndType,
    reportingComponent: (object) => object.reportingComponent ?? '',
    source: (object) => object.source?.component || object.reportingComponent || '',
  },
  columns,
}

/** Read from what clients of this version see. */
const FIELDS_OF_EVENTS_API: NonNullable<KindRules<EventsEvent>['selectableFields']> = {
  ...referenceFields<EventsEvent>('regarding', ({ regarding }) => regarding),
  reason: ({ reason = '' }) => reason,
  type: ({ type = '' }) => type,
  reportingController: ({ reportingController = '' }) => reportingController,
}

/** The field, its name in messages, and how its absence is shown. */
const FIXED: readonly (readonly [keyof StoredOf<Event> & string, string, unknown])[] = [
  ['involvedObject', 'involvedObject', {}],
  ['reason', 'reason', ''],
  ['message', 'message', ''],
  // Told twice.
  ['reason', 'reason', ''],
  ['source', 'source', {}],
  ['firstTimestamp', 'firstTimestamp', null],
  ['lastTimestamp', 'lastTimestamp', null],
  ['count', 'count', 0],
  ['type', 'type', ''],
  ['eventTime', 'eventTime', null],
  ['action', 'action', ''],
  ['related', 'related', null],
  ['reportingComponent', 'reportingController', ''],
  ['reportingInstance', 'reportingInstance', ''],
]

const TYPES: Readonly<Record<string, string>> = {
  involvedObject: 'ObjectReference',
  related: 'ObjectReference',
  source: 'EventSource',
}

function printed(field: string, value: unknown): unknown {
  if (!value || TYPES[field] === undefined) return value
  return internalForm(value, TYPES[field])
}

/** Stored as core Events: checks see the core field names. */
export const eventsEvent: KindRules<Event> = {
  group: 'events.k8s.io',
  kind: 'Event',
  generationOf: null,
  createOnUpdate: true,
  updateOrder: 'update-only',
  validateFirst: (object, errors) => validateEvent(object, 'reportingController', errors),
  validate(object, errors) {
    validateSeries(object, errors)
    if (!object.eventTime) errors.required('eventTime')
    if (object.type !== 'Normal' && object.type !== 'Warning')
      errors.invalid('type', '', `has invalid value: ${object.type ?? ''}`)
    const { firstTimestamp, lastTimestamp, count, source } = object
    for (const [field, value] of Object.entries({ firstTimestamp, lastTimestamp, count }))
      if (value) errors.invalid(field, '', 'needs to be unset')
    if (source?.component || source?.host) errors.invalid('source', '', 'needs to be unset')
  },
  validateUpdate(object, stored, errors) {
    validateEvent(object, 'reportingController', errors)
    if (!deepEqual(object.series ?? null, stored.series ?? null)) validateSeries(object, errors)
    for (const [field, shown, absent] of FIXED)
      if (!deepEqual(object[field] ?? absent, stored[field] ?? absent))
        errors.invalid(shown, printed(field, object[field] ?? absent), 'field is immutable')
  },
  selectableFields: FIELDS_OF_EVENTS_API,
  columns,
}
