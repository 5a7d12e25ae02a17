/** How a container gets its image: at once, after a while, or again and again. Contract: docs/behaviour/simulation/kubelet.md, Life of a pod. */
import type { Pod, Volume } from '@gyropilot/api'
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
    let image = container.spec.image ?? ''
    const scripted = behavior.pullError
    let problem: Problem | undefined =
      scripted !== undefined && attempt <= scripted.times
        ? scripted
        : imageProblem(image, services.imageRules)
    const volumes = volumeImages(container, services.pod())
    for (const { reference = '' } of volumes) {
      if (problem !== undefined) break
      problem = imageProblem(reference, services.imageRules)
      if (problem !== undefined) image = reference
    }
    if (problem === undefined) {
      for (const { reference = '', pullPolicy } of volumes)
        await pulled(container, reference, pullPolicy, 0, services)
      container.imageId = imageIdOf(image)
      return pulled(container, image, container.spec.imagePullPolicy, behavior.pullMs, services)
    }
    const isSame =
      problem.reason === 'InvalidImageName'
        ? await refuseName(container, problem, backOffMs, services)
        : await failPull(container, image, problem, backOffMs, services)
    backOffMs = isSame ? Math.min(backOffMs * 2, BACK_OFF_LIMIT_MS) : BACK_OFF_BASE_MS
  }
}

type ImageVolume = NonNullable<Volume['image']>

/** Images that it mounts as volumes: it cannot start without them. */
function volumeImages({ spec: { volumeMounts = [] } }: LocalContainer, { spec }: Pod) {
  return (spec?.volumes ?? []).flatMap(({ name, image }): readonly ImageVolume[] =>
    image !== undefined && volumeMounts.some((mount) => mount.name === name) ? [image] : [],
  )
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
  policy: string | undefined,
  pullMs: number,
  services: PullServices,
): Promise<void> {
  const { clock, signal } = services
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
