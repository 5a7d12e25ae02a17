/** What the running of a pod's containers needs of its surroundings. */
import type { Container, Pod } from '@gyropilot/api'
import type { Clock, RandomSource } from '@gyropilot/foundation'
import type { EventRecorder } from '@gyropilot/runtime'
import type { ImageRules } from '../behavior/image.ts'
import type { PodPrograms } from './pod-programs.ts'

export interface RunnerServices {
  readonly clock: Clock
  readonly random: RandomSource
  readonly recorder: EventRecorder
  readonly imageRules: ImageRules
  /** The pod as stored now. */
  pod(): Pod
  /** Why a container cannot be made yet, in words. */
  configurationProblem(container: Container): Promise<string | undefined>
  readonly programs: PodPrograms
  /** Aborts when the containers' own courses end. */
  readonly signal: AbortSignal
  /** Aborts when nothing may run any more: programs go on while their pod is being ended. */
  readonly life: AbortSignal
  changed(): void
}
