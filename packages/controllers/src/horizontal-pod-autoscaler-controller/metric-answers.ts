/**
 * Answers of the metrics APIs, read as a whole: what Go's decoder refuses anywhere in one leaves nothing of it, also where
 * that part is not asked for. Pure; throws in Go's words.
 * Contract: docs/behaviour/controllers/horizontal-pod-autoscaler-controller.md, Metrics API calls.
 */
import { jsonTypeName, parseQuantity } from '@gyropilot/api'
import type { Quantity } from '@gyropilot/api'
import { TIME_LAYOUT, parseGoDuration, parseGoTime } from '@gyropilot/foundation'

type Shape =
  | 'string'
  | 'int64'
  | 'quantity'
  | 'time'
  | 'duration'
  | { readonly listOf: Shape; readonly goType: string }
  | { readonly mapOf: Shape; readonly goType: string }
  | {
      readonly fields: Readonly<Record<string, Shape>>
      readonly struct: string
      readonly goType: string
    }

const LABELS: Shape = { mapOf: 'string', goType: 'map[string]string' }
const OBJECT_META: Shape = {
  struct: 'ObjectMeta',
  goType: 'v1.ObjectMeta',
  fields: {
    name: 'string',
    namespace: 'string',
    creationTimestamp: 'time',
    labels: LABELS,
    annotations: LABELS,
  },
}

function listShape(kind: string, version: string, fields: Readonly<Record<string, Shape>>): Shape {
  const goType = `${version}.${kind}`
  const item: Shape = { struct: kind, goType, fields }
  const items: Shape = { listOf: item, goType: `[]${goType}` }
  return { struct: `${kind}List`, goType: `${goType}List`, fields: { items } }
}

const CONTAINER: Shape = {
  struct: 'ContainerMetrics',
  goType: 'v1beta1.ContainerMetrics',
  fields: { name: 'string', usage: { mapOf: 'quantity', goType: 'v1.ResourceList' } },
}
const POD_METRICS = listShape('PodMetrics', 'v1beta1', {
  metadata: OBJECT_META,
  timestamp: 'time',
  window: 'duration',
  containers: { listOf: CONTAINER, goType: '[]v1beta1.ContainerMetrics' },
})
const DESCRIBED: Shape = {
  struct: 'ObjectReference',
  goType: 'v1.ObjectReference',
  fields: { kind: 'string', namespace: 'string', name: 'string', apiVersion: 'string' },
}
const METRIC: Shape = {
  struct: 'MetricIdentifier',
  goType: 'v1beta2.MetricIdentifier',
  fields: {
    name: 'string',
    selector: {
      struct: 'LabelSelector',
      goType: 'v1.LabelSelector',
      fields: { matchLabels: LABELS },
    },
  },
}
const MEASURED: Readonly<Record<string, Shape>> = { timestamp: 'time', value: 'quantity' }
const METRIC_VALUES = listShape('MetricValue', 'v1beta2', {
  ...MEASURED,
  describedObject: DESCRIBED,
  metric: METRIC,
  windowSeconds: 'int64',
})
const EXTERNAL_VALUES = listShape('ExternalMetricValue', 'v1beta1', {
  ...MEASURED,
  metricName: 'string',
  metricLabels: LABELS,
  window: 'int64',
})

export interface UsageOfPod {
  readonly metadata?: { readonly name?: string }
  /** In milliseconds since 1970. */
  readonly timestamp?: number
  /** In milliseconds. */
  readonly window?: number
  readonly containers?: readonly {
    readonly name?: string
    readonly usage?: Readonly<Record<string, Quantity>>
  }[]
}

export interface MetricValue {
  readonly describedObject?: { readonly name?: string }
  /** In milliseconds since 1970. */
  readonly timestamp?: number
  readonly windowSeconds?: number
  readonly value?: Quantity
}

/** What the client of the resource metrics API can read; anything but a list of pods has none of them. */
const RESOURCE_KINDS: ReadonlySet<string> = new Set([
  ...['v1beta1', 'v1alpha1'].flatMap((version) =>
    ['NodeMetrics', 'NodeMetricsList', 'PodMetrics', 'PodMetricsList'].map(
      (kind) => `metrics.k8s.io/${version} ${kind}`,
    ),
  ),
  'v1 Status',
])
const POD_LIST = 'metrics.k8s.io/v1beta1 PodMetricsList'
const RESOURCE_SCHEME = 'pkg/client/clientset/versioned/scheme/register.go:31'

export function readPodMetrics(answer: unknown): readonly UsageOfPod[] {
  const { apiVersion, kind } = headOf(answer)
  // What does not say what it is, is what was asked for.
  const given = `${apiVersion || 'metrics.k8s.io/v1beta1'} ${kind || 'PodMetricsList'}`
  if (!RESOURCE_KINDS.has(given)) {
    const [version, name] = given.split(' ').map((part) => JSON.stringify(part))
    throw new Error(
      `no kind ${name} is registered for version ${version} in scheme "${RESOURCE_SCHEME}"`,
    )
  }
  if (given !== POD_LIST) return []
  return itemsOf<UsageOfPod>(answer, POD_METRICS)
}

export function readMetricValues(answer: unknown): readonly MetricValue[] {
  return itemsOf<MetricValue>(answer, METRIC_VALUES)
}

export function readExternalValues(answer: unknown): readonly MetricValue[] {
  return itemsOf<MetricValue>(answer, EXTERNAL_VALUES)
}

function headOf(answer: unknown): { readonly apiVersion: string; readonly kind: string } {
  const { apiVersion, kind } = (answer ?? {}) as Readonly<Record<string, unknown>>
  return { apiVersion: headText('apiVersion', apiVersion), kind: headText('kind', kind) }
}

function headText(name: string, value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  throw new Error(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonTypeName(value)} into Go struct field .${name} of type string`,
  )
}

function itemsOf<Item>(answer: unknown, shape: Shape): readonly Item[] {
  const decoder = new AnswerDecoder()
  const read = decoder.read(answer, shape, { struct: '', path: [] })
  if (decoder.mismatch !== undefined) throw new Error(decoder.mismatch)
  return (read as { readonly items?: readonly Item[] }).items ?? []
}

/** Where in the answer: the innermost structure and the fields on the way. */
interface Place {
  readonly struct: string
  readonly path: readonly string[]
}

/** Quantities, times and durations end the reading; what is of a wrong type is told when all else could be read. */
class AnswerDecoder {
  mismatch: string | undefined

  read(value: unknown, shape: Shape, place: Place): unknown {
    if (typeof shape === 'string') return this.#scalar(value, shape, place)
    if (value === null || value === undefined) return undefined
    if ('listOf' in shape) {
      if (!Array.isArray(value)) return this.#wrong(value, shape.goType, place)
      return value.map((item) => this.read(item, shape.listOf, place) ?? {})
    }
    if (typeof value !== 'object' || Array.isArray(value))
      return this.#wrong(value, shape.goType, place)
    const read: Record<string, unknown> = {}
    for (const [name, member] of Object.entries(value)) {
      if ('mapOf' in shape) read[name] = this.read(member, shape.mapOf, place)
      else if (Object.hasOwn(shape.fields, name))
        read[name] = this.read(member, shape.fields[name]!, {
          struct: shape.struct,
          path: [...place.path, name],
        })
    }
    return read
  }

  #scalar(value: unknown, shape: Extract<Shape, string>, place: Place): unknown {
    switch (shape) {
      case 'quantity':
        return quantityOf(value)
      case 'duration':
        return durationOf(this.#text(value, place) ?? '')
      case 'time':
        return timeOf(this.#text(value, place))
      case 'int64':
        if (value === null || isInt64(value)) return value ?? undefined
        return this.#wrong(value, 'int64', place)
      case 'string':
        if (value === null || typeof value === 'string') return value ?? undefined
        return this.#wrong(value, 'string', place)
    }
  }

  /** Of what reads itself from a text: anything else is the end. */
  #text(value: unknown, place: Place): string | undefined {
    if (value === null || typeof value === 'string') return value ?? undefined
    throw new Error(mismatchOf(value, 'string', place))
  }

  #wrong(value: unknown, goType: string, place: Place): undefined {
    this.mismatch ??= mismatchOf(value, goType, place)
  }
}

function mismatchOf(value: unknown, goType: string, { struct, path }: Place): string {
  const into =
    path.length === 0
      ? `Go value of type ${goType}`
      : `Go struct field ${struct}.${path.join('.')} of type ${goType}`
  const type = jsonTypeName(value)
  const shown = type === 'number' && goType === 'int64' ? `number ${value}` : type
  return `json: cannot unmarshal ${shown} into ${into}`
}

/** Long integers arrive as bigints. */
function isInt64(value: unknown): boolean {
  return typeof value === 'bigint'
    ? BigInt.asIntN(64, value) === value
    : Number.isSafeInteger(value)
}

function numberText(value: unknown): string {
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}

/** A number counts as its text, blanks around a text do not. */
function quantityOf(value: unknown): Quantity {
  if (value === null) return '0'
  const text = typeof value === 'string' ? value.trim() : numberText(value)
  parseQuantity(text)
  return text
}

/** In milliseconds. */
function durationOf(text: string): number {
  const read = parseGoDuration(text)
  if (typeof read === 'string') throw new Error(read)
  return read
}

/** In milliseconds since 1970. */
function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const read = parseGoTime(text, TIME_LAYOUT)
  if ('error' in read) throw new Error(read.error)
  return read.ms + Math.floor(Number(`0.${read.fraction}0`) * 1000)
}
