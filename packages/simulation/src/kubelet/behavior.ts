/**
 * What a user scripts of a pod's life: causes (a pull that fails, a program that exits), never statuses.
 * Contract: docs/behaviour/simulation/kubelet.md, Scripting the behaviour. Later sources win per field: the node's default,
 * then the pod's annotations. A document that cannot be read is reported and ignored, as a typo must not look like a crash.
 */
import type { Pod } from '@gyropilot/api'
import { parse } from 'yaml'
import { durationMs } from './duration.ts'

export const BEHAVIOR_ANNOTATION = 'sim.kubelet/behavior'
/** Short forms of `runs`. */
const RUN_ANNOTATIONS = [
  'sim.kubelet/crash-loop',
  'sim.kubelet/exit-code',
  'sim.kubelet/fail-runs',
  'sim.kubelet/run',
]

/** One start of a container: the n-th start uses the n-th run, the last one repeats. */
export interface Run {
  /** Infinity: until it is stopped. */
  readonly durationMs: number
  readonly exitCode: number
  readonly reason?: string
  readonly message?: string
}

export interface Failure {
  readonly reason: string
  readonly message: string
  /** How many attempts fail; Infinity: all. */
  readonly times: number
}

export interface ContainerBehavior {
  readonly pullMs: number
  readonly pullError?: Failure
  readonly startMs: number
  readonly startError?: Failure
  readonly runs: readonly Run[]
  /** False: `runs` is what is usual for the pod. */
  readonly runsAreScripted: boolean
  /** After its start; undefined: as soon as it is started. Infinity: never. */
  readonly readyAfterMs?: number
  readonly terminateMs: number
  readonly terminateExitCode: number
  /** Runs into SIGKILL. */
  readonly ignoresTermination: boolean
  readonly logs: readonly ScriptedLine[]
  /** The first whose command is the beginning of the one asked for answers it. */
  readonly exec: readonly ScriptedAnswer[]
}

export interface ScriptedLine {
  /** After the start of each run. */
  readonly atMs: number
  readonly text: string
  readonly stream: 'stdout' | 'stderr'
}

export interface ScriptedAnswer {
  readonly command: string
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
  readonly durationMs: number
}

export interface PodBehavior {
  readonly sandboxMs: number
  readonly admission?: { readonly reason: string; readonly message: string }
  container(name: string): ContainerBehavior
}

export interface BehaviorDefaults {
  readonly sandboxMs: number
  readonly startMs: number
  readonly terminateMs: number
  /** How long containers of pods run that are meant to end (restartPolicy OnFailure and Never). */
  readonly jobRunMs: number
}

export const DEFAULT_BEHAVIOR: BehaviorDefaults = {
  sandboxMs: 200,
  startMs: 100,
  terminateMs: 100,
  jobRunMs: 1_000,
}

// oxlint-disable-next-line no-explicit-any -- a user's document, read field by field below
type Document = Record<string, any>

/** The behaviour of a pod. `report` is told once of a document that cannot be used. */
export function behaviorOf(
  pod: Pod,
  defaults: BehaviorDefaults,
  report: (problem: string) => void,
): PodBehavior {
  const annotations = pod.metadata?.annotations ?? {}
  const document = documentOf(annotations[BEHAVIOR_ANNOTATION], report)
  const speed = Number(document.speed ?? 1) || 1
  const scaled = (value: unknown, otherwise: number): number => durationMs(value, otherwise) / speed
  const endless = (pod.spec?.restartPolicy ?? 'Always') === 'Always'
  return {
    sandboxMs: scaled(document.sandbox, defaults.sandboxMs),
    ...(document.admission === undefined
      ? {}
      : {
          admission: {
            reason: String(document.admission.reason ?? 'UnexpectedAdmissionError'),
            message: String(document.admission.message ?? ''),
          },
        }),
    container(name) {
      const own: Document = { ...document.containers?.['*'], ...document.containers?.[name] }
      return {
        pullMs: scaled(own.pull?.duration, 0),
        ...failure('pullError', own.pull, 'ErrImagePull', annotations['sim.kubelet/image-error']),
        startMs: scaled(own.start?.duration, defaults.startMs),
        ...failure('startError', own.start, 'RunContainerError', undefined),
        runsAreScripted:
          Array.isArray(own.runs) || RUN_ANNOTATIONS.some((key) => key in annotations),
        runs: runsOf(own, annotations, endless ? Infinity : defaults.jobRunMs / speed, scaled),
        ...readiness(own, annotations, scaled),
        terminateMs: scaled(
          own.terminate?.duration ?? annotations['sim.kubelet/terminate'],
          defaults.terminateMs,
        ),
        terminateExitCode: Number(own.terminate?.exitCode ?? 0),
        ignoresTermination: own.terminate?.ignore === true,
        logs: (own.logs ?? []).map((line: Document) => ({
          atMs: scaled(line.at, 0),
          text: String(line.text ?? ''),
          stream: line.stream === 'stderr' ? 'stderr' : 'stdout',
        })),
        exec: (own.exec ?? []).map((answer: Document) => ({
          command: [answer.command ?? ''].flat().join(' '),
          stdout: String(answer.stdout ?? ''),
          stderr: String(answer.stderr ?? ''),
          exitCode: Number(answer.exitCode ?? 0),
          durationMs: scaled(answer.duration, 0),
        })),
      }
    },
  }
}

function documentOf(text: string | undefined, report: (problem: string) => void): Document {
  if (text === undefined) return {}
  try {
    const value: unknown = parse(text)
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value
    report(`annotation ${BEHAVIOR_ANNOTATION} is no YAML or JSON object`)
  } catch (error) {
    report(
      `annotation ${BEHAVIOR_ANNOTATION} cannot be read: ${(error as Error).message.split('\n')[0]}`,
    )
  }
  return {}
}

function failure(
  field: 'pullError' | 'startError',
  section: Document | undefined,
  reason: string,
  shorthand: string | undefined,
): { [key in typeof field]?: Failure } {
  const error = section?.error
  if (error === undefined && shorthand === undefined) return {}
  const times =
    section?.times === undefined || section.times === 'forever' ? Infinity : section.times
  return {
    [field]: {
      reason: String(error?.reason ?? reason),
      message: String(error?.message ?? shorthand ?? ''),
      times: Number(times),
    },
  }
}

function runsOf(
  own: Document,
  annotations: Readonly<Record<string, string>>,
  usualMs: number,
  scaled: (value: unknown, otherwise: number) => number,
): readonly Run[] {
  if (Array.isArray(own.runs) && own.runs.length > 0) {
    return own.runs.map((run: Document) => ({
      durationMs: run.duration === 'forever' ? Infinity : scaled(run.duration, usualMs),
      exitCode: run.oom === true ? 137 : Number(run.exitCode ?? 0),
      ...(run.oom === true
        ? { reason: 'OOMKilled' }
        : run.reason
          ? { reason: String(run.reason) }
          : {}),
      ...(run.message ? { message: String(run.message) } : {}),
    }))
  }
  if (annotations['sim.kubelet/crash-loop'] === 'true') return [{ durationMs: 1_000, exitCode: 1 }]
  const exitCode = Number(annotations['sim.kubelet/exit-code'] ?? 0)
  const asked = annotations['sim.kubelet/run']
  const usual: Run = {
    durationMs: asked === undefined ? usualMs : scaled(asked, usualMs),
    exitCode,
  }
  const failing = Number(annotations['sim.kubelet/fail-runs'] ?? 0)
  const failed = Array.from({ length: failing }, (): Run => ({ durationMs: 1_000, exitCode: 1 }))
  return [...failed, usual]
}

function readiness(
  own: Document,
  annotations: Readonly<Record<string, string>>,
  scaled: (value: unknown, otherwise: number) => number,
): { readyAfterMs?: number } {
  if (annotations['sim.kubelet/never-ready'] === 'true') return { readyAfterMs: Infinity }
  const asked =
    own.readiness?.readyAfter ?? own.readyAfter ?? annotations['sim.kubelet/ready-after']
  return asked === undefined ? {} : { readyAfterMs: scaled(asked, 0) }
}
