/**
 * What a user scripts of a pod's life: causes (a pull that fails, a program that exits), never statuses.
 * Contract: docs/behaviour/simulation/kubelet.md, Scripting the behaviour. Later sources win per field: the node's default,
 * then the pod's annotations. What cannot be used is reported and ignored, as a typo must not look like a crash.
 */
import type { Container, Pod } from '@gyropilot/api'
import { BEHAVIOR_ANNOTATION, annotated, annotationProblems, isAnnotated } from './annotations.ts'
import { documentOf } from './behavior-document.ts'
import type { Document } from './behavior-document.ts'
import { durationMs } from './duration.ts'
import { loadOf } from './load.ts'
import type { Load } from './load.ts'
import { isEndless, stoppedExitCode } from './usual-run.ts'
import type { ContainerRole } from './usual-run.ts'

/** One start of a container: the n-th start uses the n-th run, the last one repeats. */
export interface Run {
  /** Infinity: until it is stopped. */
  readonly durationMs: number
  readonly exitCode: number
  readonly reason?: string
  readonly message?: string
}

interface Failure {
  readonly reason: string
  readonly message: string
  /** How many attempts fail; Infinity: all. */
  readonly times: number
}

export type ProbeKind = 'startup' | 'readiness' | 'liveness'

/** What a probe comes to from `atMs` after the start on, until the next result. */
interface ProbeResult {
  readonly atMs: number
  readonly success: boolean
}

export interface ContainerBehavior {
  readonly pullMs: number
  readonly pullError?: Failure
  readonly startMs: number
  readonly startError?: Failure
  readonly runs: readonly Run[]
  /** False: `runs` is what is usual for the pod, when its command line does not tell. */
  readonly runsAreScripted: boolean
  /** After its start; undefined: as soon as it is started. Infinity: never. */
  readonly readyAfterMs?: number
  /** In the order of their times. Empty: as the probe finds it. */
  readonly probes: Readonly<Record<ProbeKind, readonly ProbeResult[]>>
  readonly terminateMs: number
  readonly terminateExitCode: number
  /** False: a program that does something of its own then does it. */
  readonly terminationIsScripted: boolean
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

/** What the containers of a pod use together. Undefined: nobody said. */
export interface ScriptedUsage {
  readonly own?: Load
  /** The pods of one controller have it together. */
  readonly shared?: Load
}

export interface PodBehavior {
  readonly sandboxMs: number
  readonly usage: { readonly cpu: ScriptedUsage; readonly memory: ScriptedUsage }
  readonly admission?: { readonly reason: string; readonly message: string }
  container(spec: Container, role: ContainerRole): ContainerBehavior
}

export interface BehaviorDefaults {
  readonly sandboxMs: number
  readonly startMs: number
  readonly terminateMs: number
  /** How long containers run that are meant to end. */
  readonly jobRunMs: number
}

export const DEFAULT_BEHAVIOR: BehaviorDefaults = {
  sandboxMs: 200,
  startMs: 100,
  terminateMs: 100,
  jobRunMs: 1_000,
}

type Scaled = (value: unknown, otherwise: number) => number

/** The behaviour of a pod. `report` is told of each thing that cannot be used, in a sentence. */
export function behaviorOf(
  pod: Pod,
  defaults: BehaviorDefaults,
  report: (problem: string) => void,
): PodBehavior {
  for (const problem of annotationProblems(pod)) report(problem)
  const document = documentOf(pod.metadata?.annotations?.[BEHAVIOR_ANNOTATION], report)
  const speed = Number(document.speed ?? 1) || 1
  const scaled: Scaled = (value, otherwise) => durationMs(value, otherwise) / speed
  return {
    sandboxMs: scaled(document.sandbox, defaults.sandboxMs),
    usage: { cpu: scriptedUsage(pod, 'cpu', speed), memory: scriptedUsage(pod, 'memory', speed) },
    ...(document.admission === undefined
      ? {}
      : {
          admission: {
            reason: String(document.admission.reason ?? 'UnexpectedAdmissionError'),
            message: String(document.admission.message ?? ''),
          },
        }),
    container(spec, role) {
      const own: Document = { ...document.containers?.['*'], ...document.containers?.[spec.name] }
      const usualMs = isEndless(pod, spec, role) ? Infinity : defaults.jobRunMs / speed
      return {
        pullMs: scaled(own.pull?.duration, 0),
        ...failure('pullError', own.pull, 'ErrImagePull', annotated(pod, 'image-error')),
        startMs: scaled(own.start?.duration, defaults.startMs),
        ...failure('startError', own.start, 'RunContainerError', undefined),
        ...runsOf(pod, role, own, usualMs, scaled),
        ...readiness(pod, own, scaled),
        probes: {
          startup: probeResults(own.startup, scaled),
          readiness: probeResults(own.readiness, scaled),
          liveness: probeResults(own.liveness, scaled),
        },
        terminateMs: scaled(
          own.terminate?.duration ?? annotated(pod, 'terminate'),
          defaults.terminateMs,
        ),
        terminateExitCode: Number(own.terminate?.exitCode ?? stoppedExitCode(pod, spec, role)),
        terminationIsScripted: (own.terminate ?? annotated(pod, 'terminate')) !== undefined,
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

function scriptedUsage(pod: Pod, resource: 'cpu' | 'memory', speed: number): ScriptedUsage {
  const own = annotated(pod, resource)
  const shared = annotated(pod, `shared-${resource}`)
  return {
    ...(own === undefined ? {} : { own: loadOf(own, speed) }),
    ...(shared === undefined ? {} : { shared: loadOf(shared, speed) }),
  }
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
  pod: Pod,
  role: ContainerRole,
  own: Document,
  usualMs: number,
  scaled: Scaled,
): { readonly runs: readonly Run[]; readonly runsAreScripted: boolean } {
  if (Array.isArray(own.runs) && own.runs.length > 0)
    return { runs: own.runs.map((run) => scriptedRun(run, usualMs, scaled)), runsAreScripted: true }
  const usual: Run = { durationMs: usualMs, exitCode: 0 }
  // The short forms are about what the pod is for: what prepares it or stands beside it goes its usual way.
  if (role !== 'main') return { runs: [usual], runsAreScripted: false }
  if (isAnnotated(pod, 'crash-loop'))
    return { runs: [{ durationMs: 1_000, exitCode: 1 }], runsAreScripted: true }
  const asked = annotated(pod, 'run')
  const exitCode = annotated(pod, 'exit-code')
  const failing = annotated(pod, 'fail-runs')
  if (asked === undefined && exitCode === undefined && failing === undefined)
    return { runs: [usual], runsAreScripted: false }
  const failed = Array.from({ length: Number(failing ?? 0) }, (): Run => ({
    durationMs: 1_000,
    exitCode: 1,
  }))
  const last = { durationMs: scaled(asked, usualMs), exitCode: Number(exitCode ?? 0) }
  return { runs: [...failed, last], runsAreScripted: true }
}

function scriptedRun(run: Document, usualMs: number, scaled: Scaled): Run {
  const reason = run.oom === true ? 'OOMKilled' : run.reason
  return {
    durationMs: run.duration === 'forever' ? Infinity : scaled(run.duration, usualMs),
    exitCode: run.oom === true ? 137 : Number(run.exitCode ?? 0),
    ...(reason ? { reason: String(reason) } : {}),
    ...(run.message ? { message: String(run.message) } : {}),
  }
}

function readiness(pod: Pod, own: Document, scaled: Scaled): { readyAfterMs?: number } {
  if (isAnnotated(pod, 'never-ready')) return { readyAfterMs: Infinity }
  const asked = own.readiness?.readyAfter ?? own.readyAfter ?? annotated(pod, 'ready-after')
  return asked === undefined ? {} : { readyAfterMs: scaled(asked, 0) }
}

function probeResults(section: unknown, scaled: Scaled): readonly ProbeResult[] {
  if (!Array.isArray(section)) return []
  return section
    .map((entry: Document) => ({
      atMs: scaled(entry.at, 0),
      success: entry.result !== 'failure',
    }))
    .toSorted((a, b) => a.atMs - b.atMs)
}

/** The answer scripted for a command line, by its beginning. */
export function scriptedAnswer(
  answers: readonly ScriptedAnswer[],
  command: readonly string[],
): ScriptedAnswer | undefined {
  const line = command.join(' ')
  return answers.find((answer) => line === answer.command || line.startsWith(`${answer.command} `))
}
