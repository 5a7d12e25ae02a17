/** How a container gets its image: at once, after a while, or again and again. Contract: docs/behaviour/simulation/kubelet.md, Life of a pod. */
import { sleep } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import type { ContainerBehavior } from '../behavior/behavior.ts'
import { durationText } from '../behavior/duration.ts'
import { imageIdOf, imageProblem } from '../behavior/image.ts'
import type { ImageRules } from '../behavior/image.ts'
import { backOffFor, recordOn, waitFor } from './container-news.ts'
import type { NewsServices } from './container-news.ts'
import type { LocalContainer } from './local-pod.ts'

/** The first wait after something failed; each is twice the one before, up to the limit. */
export const BACK_OFF_BASE_MS = 10_000
export const BACK_OFF_LIMIT_MS = 300_000
/** How long ErrImagePull shows before it becomes ImagePullBackOff. */
const PULL_ERROR_SHOWN_MS = 1_000

interface PullServices extends NewsServices {
  readonly clock: Clock
  readonly imageRules: ImageRules
  readonly signal: AbortSignal
}

interface Problem {
  readonly reason: string
  readonly message: string
}

/** Resolves when it is there. Another image is tried at once. */
export async function pullImage(
  container: LocalContainer,
  behavior: ContainerBehavior,
  services: PullServices,
): Promise<void> {
  let backOffMs = BACK_OFF_BASE_MS
  for (let attempt = 1; ; attempt++) {
    const image = container.spec.image ?? ''
    const scripted = behavior.pullError
    const problem =
      scripted !== undefined && attempt <= scripted.times
        ? scripted
        : imageProblem(image, services.imageRules)
    if (problem === undefined) return pulled(container, image, behavior.pullMs, services)
    const isSame =
      problem.reason === 'InvalidImageName'
        ? await refuseName(container, problem, backOffMs, services)
        : await failPull(container, image, problem, backOffMs, services)
    backOffMs = isSame ? Math.min(backOffMs * 2, BACK_OFF_LIMIT_MS) : BACK_OFF_BASE_MS
  }
}

async function refuseName(
  container: LocalContainer,
  { reason, message }: Problem,
  backOffMs: number,
  services: PullServices,
): Promise<boolean> {
  waitFor(container, services, reason, message)
  recordOn(container, services, 'Warning', 'InspectFailed', message)
  recordOn(container, services, 'Warning', 'Failed', 'Error: InvalidImageName')
  return backOffFor(container, services, backOffMs)
}

async function failPull(
  container: LocalContainer,
  image: string,
  { reason, message }: Problem,
  backOffMs: number,
  services: PullServices,
): Promise<boolean> {
  recordOn(container, services, 'Normal', 'Pulling', `Pulling image "${image}"`)
  const text = `Failed to pull image "${image}": ${message}`
  recordOn(container, services, 'Warning', 'Failed', text)
  recordOn(container, services, 'Warning', 'Failed', `Error: ${reason}`)
  waitFor(container, services, reason, message)
  if (!(await backOffFor(container, services, PULL_ERROR_SHOWN_MS))) return false
  const backOff = `Back-off pulling image "${image}"`
  waitFor(container, services, 'ImagePullBackOff', `${backOff}: ${reason}: ${message}`)
  recordOn(container, services, 'Normal', 'BackOff', backOff)
  recordOn(container, services, 'Warning', 'Failed', 'Error: ImagePullBackOff')
  return backOffFor(container, services, Math.max(0, backOffMs - PULL_ERROR_SHOWN_MS))
}

async function pulled(
  container: LocalContainer,
  image: string,
  pullMs: number,
  services: PullServices,
): Promise<void> {
  const { clock, signal } = services
  container.imageId = imageIdOf(image)
  const policy = container.spec.imagePullPolicy
  if (policy === 'Always' || (policy === undefined && pullMs > 0)) {
    recordOn(container, services, 'Normal', 'Pulling', `Pulling image "${image}"`)
    await sleep(clock, pullMs, signal)
    const took = durationText(pullMs)
    const text = `Successfully pulled image "${image}" in ${took} (${took} including waiting). Image size: 123 bytes.`
    recordOn(container, services, 'Normal', 'Pulled', text)
    return
  }
  await sleep(clock, pullMs, signal)
  const present = `Container image "${image}" already present on machine and can be accessed by the pod`
  recordOn(container, services, 'Normal', 'Pulled', present)
}
