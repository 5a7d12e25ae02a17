/** What a container's postStart and preStop hooks come to. Contract: docs/behaviour/simulation/kubelet.md, Hooks. */
import type { Container, Pod } from '@gyropilot/api'
import { errorText, sleep, untilAborted } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { programOf } from '../behavior/image-program.ts'
import { waitsForever } from '../behavior/usual-run.ts'
import { servesHttp } from '../commands/image-programs/agnhost-command.ts'
import { portProblem } from '../answers/port-answers.ts'
import type { LocalContainer } from './local-pod.ts'
import type { PodPrograms } from './pod-programs.ts'

type Hook = NonNullable<NonNullable<Container['lifecycle']>['preStop']>

interface HookServices {
  readonly clock: Clock
  readonly programs: Pick<PodPrograms, 'exec' | 'request'>
  pod(): Pod
}

/**
 * Resolves when the hook is over: undefined when it succeeded, else what went wrong, be it that the server did not answer what its
 * command asked for. Rejects only when the signal aborts.
 */
export async function runHook(
  hook: Hook,
  container: LocalContainer,
  services: HookServices,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return await outcomeOf(hook, container, services, signal)
  } catch (error) {
    if (signal.aborted) throw error
    return errorText(error)
  }
}

async function outcomeOf(
  hook: Hook,
  container: LocalContainer,
  { clock, programs, pod }: HookServices,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (hook.sleep !== undefined) {
    await sleep(clock, Number(hook.sleep.seconds) * 1000, signal)
    return undefined
  }
  if (hook.httpGet?.host) return programs.request(container, hook.httpGet, signal)
  if (hook.httpGet !== undefined) {
    // Most programs of its own pod are not here.
    if (isKnownToServe(pod(), Number(hook.httpGet.port)))
      return programs.request(container, { ...hook.httpGet, host: '127.0.0.1' }, signal)
    return portProblem(pod(), container.spec, hook)
  }
  const command = hook.exec?.command ?? []
  const end = await programs.exec(container, command, signal)
  if (end === undefined && waitsForever(command)) await untilAborted(never(), signal)
  // A program of the real image, which is taken to be well.
  if (end === undefined || end.exitCode === 0) return undefined
  const said = `Exec lifecycle hook (${JSON.stringify(command)}) for Container ${JSON.stringify(container.spec.name)}`
  return `${said} failed - error: command '${command.join(' ')}' exited with ${end.exitCode}: ${end.output}`
}

function never(): Promise<never> {
  return new Promise(() => {})
}

function isKnownToServe({ spec }: Pod, port: number): boolean {
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]
  return containers.some((each) => servesHttp(programOf(each), port, each.env))
}
