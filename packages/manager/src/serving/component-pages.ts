/** /flagz and /statusz: for people, as text; for programs, as JSON to those that ask for it. Pure. */
import { compareStrings } from '@gyropilot/foundation'
import type { Answer } from './request.ts'

const WARNING =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.'

export interface Status {
  readonly component: string
  readonly startedMs: number
  readonly nowMs: number
  /** `v26.1.0`: stands where upstream names its Go version. */
  readonly runtimeVersion: string
  /** `1.36.0` */
  readonly version: string
  readonly paths: readonly string[]
}

export function statusPage(status: Status, accept: string | undefined): Answer {
  const { component, startedMs, nowMs, runtimeVersion, version, paths } = status
  const upSeconds = Math.floor((nowMs - startedMs) / 1000)
  const emulated = version.split('.').slice(0, 2).join('.')
  return page('Statusz', component, accept, {
    text: [
      `Started: ${unixDate(startedMs)}`,
      `Up: ${upText(upSeconds)}`,
      `Go version: none (Node.js ${runtimeVersion})`,
      `Binary version: ${version}`,
      `Emulation version: ${emulated}`,
      `Paths: ${paths.toSorted(compareStrings).join(' ')}`,
    ],
    json: {
      startTime: `${new Date(startedMs).toISOString().slice(0, 19)}Z`,
      uptimeSeconds: upSeconds,
      goVersion: `none (Node.js ${runtimeVersion})`,
      binaryVersion: version,
      emulationVersion: emulated,
      paths: paths.toSorted(compareStrings),
    },
  })
}

/** `flags` are texts by name. */
export function flagsPage(
  component: string,
  flags: ReadonlyMap<string, string>,
  accept: string | undefined,
): Answer {
  const sorted = [...flags].toSorted(([a], [b]) => compareStrings(a, b))
  return page('Flagz', component, accept, {
    text: sorted.map(([name, value]) => `${name}=${value}`),
    json: { flags: Object.fromEntries(sorted) },
  })
}

function page(
  kind: 'Flagz' | 'Statusz',
  component: string,
  accept: string | undefined,
  content: { readonly text: readonly string[]; readonly json: Readonly<Record<string, unknown>> },
): Answer {
  const form = formOf(kind, accept)
  if (form === 'text') {
    const title = `${component} ${kind.toLowerCase()}`
    const body = `\n${title}\n${WARNING}\n\n${content.text.join('\n')}\n`
    return { status: 200, contentType: 'text/plain; charset=utf-8', body }
  }
  if (form === undefined) {
    const body = 'the server could not find a requested media type\n'
    return { status: 406, contentType: 'text/plain; charset=utf-8', body }
  }
  const apiVersion = `config.k8s.io/${form.version}`
  const object = { kind, apiVersion, metadata: { name: component }, ...content.json }
  return { status: 200, contentType: 'application/json', body: JSON.stringify(object) }
}

/** The first acceptable form of the Accept header; JSON only with the kind and a version it exists in. */
function formOf(
  kind: string,
  accept: string | undefined,
): 'text' | { readonly version: string } | undefined {
  if (accept === undefined || accept.trim() === '') return 'text'
  for (const clause of accept.split(',')) {
    const [type = '', ...parameters] = clause.split(';').map((part) => part.trim())
    if (type === '*/*' || type === 'text/*' || type === 'text/plain') return 'text'
    const { v, g, as } = Object.fromEntries(parameters.map((pair) => pair.split('=')))
    if (type === 'application/json' && as === kind && g === 'config.k8s.io') {
      if (v === 'v1alpha1' || v === 'v1beta1') return { version: v }
    }
  }
  return undefined
}

/** `Wed Oct 16 21:03:43 UTC 2024` */
function unixDate(timeMs: number): string {
  const [weekday = '', day = '', month = '', year = '', time = ''] = new Date(timeMs)
    .toUTCString()
    .split(' ')
  return `${weekday.replace(',', '')} ${month} ${String(Number(day)).padStart(2)} ${time} UTC ${year}`
}

/** `26 hr 03 min 00 sec` */
function upText(seconds: number): string {
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${Math.floor(seconds / 3600)} hr ${two(Math.floor((seconds % 3600) / 60))} min ${two(seconds % 60)} sec`
}
