/** What /flagz and /statusz of a component say: to people as text, to programs as an object of config.k8s.io. Pure. */
import { compareStrings } from './compare.ts'

const WARNING =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.'

/** What /statusz says of a process. */
export interface ComponentStatus {
  readonly component: string
  readonly startedMs: number
  readonly nowMs: number
  /** `v26.1.0`: stands where upstream names its Go version. */
  readonly runtimeVersion: string
  /** `1.36.2` */
  readonly version: string
  /** `1.35`; without it that of the version. */
  readonly emulatedVersion?: string
  readonly paths: readonly string[]
}

/** A page in both forms that it is served in: text for people, an object for programs. */
export interface ComponentPage {
  readonly kind: 'Flagz' | 'Statusz'
  readonly text: string
  /** `version` is one of COMPONENT_PAGE_VERSIONS. */
  object(version: string): object
}

/** Of the newest the server does not say that it is deprecated. */
export const COMPONENT_PAGE_VERSIONS: readonly string[] = ['v1alpha1', 'v1beta1']

/** The page /statusz of a process. */
export function statusPage(status: ComponentStatus): ComponentPage {
  const { component, startedMs, nowMs, runtimeVersion, version } = status
  const upSeconds = Math.floor((nowMs - startedMs) / 1000)
  const emulated = status.emulatedVersion ?? version.split('.').slice(0, 2).join('.')
  const paths = status.paths.toSorted(compareStrings)
  const lines = [
    `Started: ${unixDate(startedMs)}`,
    `Up: ${upText(upSeconds)}`,
    `Go version: none (Node.js ${runtimeVersion})`,
    `Binary version: ${version}`,
    `Emulation version: ${emulated}`,
    `Paths: ${paths.join(' ')}`,
  ]
  return page('Statusz', component, lines, {
    startTime: `${new Date(startedMs).toISOString().slice(0, 19)}Z`,
    uptimeSeconds: upSeconds,
    goVersion: `none (Node.js ${runtimeVersion})`,
    binaryVersion: version,
    emulationVersion: emulated,
    paths,
  })
}

/** `flags` are texts by name. */
export function flagsPage(component: string, flags: ReadonlyMap<string, string>): ComponentPage {
  const sorted = [...flags].toSorted(([a], [b]) => compareStrings(a, b))
  const lines = sorted.map(([name, value]) => `${name}=${value}`)
  return page('Flagz', component, lines, { flags: Object.fromEntries(sorted) })
}

function page(
  kind: ComponentPage['kind'],
  component: string,
  lines: readonly string[],
  content: Readonly<Record<string, unknown>>,
): ComponentPage {
  return {
    kind,
    text: `\n${component} ${kind.toLowerCase()}\n${WARNING}\n\n${lines.join('\n')}\n`,
    object: (version) => ({
      kind,
      apiVersion: `config.k8s.io/${version}`,
      metadata: { name: component },
      ...content,
    }),
  }
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
