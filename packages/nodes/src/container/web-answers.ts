/** What the program of a container answers over HTTP, to whoever asks and to the probes of its node. */
import type { Container } from '@gyropilot/api'
import { sleep } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { programOf } from '../behavior/image-program.ts'
import type { Guestbook } from '../shell/guestbook.ts'
import { guestbookPage } from '../answers/agnhost-guestbook.ts'
import { dialPage } from '../answers/agnhost-dial.ts'
import { nettestPage } from '../answers/agnhost-nettest.ts'
import { webhookPage } from '../answers/agnhost-webhook.ts'
import type { Heard } from '../answers/agnhost-nettest.ts'
import { agnhostMayFail, agnhostPage } from '../answers/agnhost-server.ts'
import { ended, environmentOf, filesOf } from './container-commands.ts'
import type { Place } from './container-commands.ts'
import { hostnameOf } from './pod-names.ts'
import { controllerPage } from '../answers/consumer-controller.ts'
import type { Page, Request } from '../answers/port-answers.ts'
import { Consumption, consumerPage } from '../answers/resource-consumer.ts'
import { isOfDocuments, missingDocument, servedPage } from '../answers/web-documents.ts'

type HttpGet = NonNullable<NonNullable<Container['livenessProbe']>['httpGet']>

interface GoingRun {
  readonly startedAtMs: number
  readonly consumption?: Consumption
  readonly heard?: Heard
  readonly guestbook?: Guestbook | undefined
  readonly isEnding: boolean
}

/** Undefined: the usual page. */
export async function answerOf(
  place: Place,
  going: GoingRun,
  request: Request,
  signal: AbortSignal,
): Promise<Page | undefined> {
  const words = programOf(place.container)
  const { consumption = new Consumption(), heard = new Map<string, number>() } = going
  const connect = () => place.network?.(signal)
  const run = runOf(place, going, await environmentOf(place))
  return (
    agnhostPage(words, run, request) ??
    nettestPage(words, request, run.hostname, heard) ??
    (await webhookPage(words, request, (delayMs) => pause(place.clock, delayMs, signal))) ??
    consumerPage(words, request, run.nowMs, consumption) ??
    (await guestbookPage(words, request, { guestbook: going.guestbook, connect })) ??
    (await controllerPage(words, request, connect)) ??
    (await dialPage(words, request, connect)) ??
    servedPage(place.container, request.path, () => filesOf(place))
  )
}

function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return Number.isFinite(delayMs) ? sleep(clock, delayMs, signal) : ended(signal)
}

/** Whether a probe may ever be answered badly: of most containers nothing is known that could go wrong. */
export function mayAnswerBadly(container: Container, { host, path }: HttpGet): boolean {
  if (host) return false
  return isOfDocuments(container, path) || agnhostMayFail(programOf(container))
}

/** What is wrong with what a probe is answered, in a kubelet's words. */
export function answerProblem(
  place: Place,
  going: GoingRun,
  { path = '/', port }: HttpGet,
): string | undefined {
  const { container, containerId, storage } = place
  const run = runOf(place, going, new Map())
  const request = { method: 'GET', port: portNumber(container, port), path }
  let page = agnhostPage(programOf(container), run, request)
  // One that leads to another host is not followed, and is taken to be well.
  for (let hops = 0; page?.location?.startsWith('/') && hops < MOST_REDIRECTS; hops++)
    page = agnhostPage(programOf(container), run, { ...request, path: page.location })
  const root = storage.rootOf(container.name, containerId)
  const status = page?.status ?? missingDocument(container, path, root) ?? 200
  return status < 400 ? undefined : `HTTP probe failed with statuscode: ${status}`
}

const MOST_REDIRECTS = 10

function portNumber({ ports = [] }: Container, port: string | number): number {
  return ports.find(({ name }) => name === port)?.containerPort ?? Number(port)
}

function runOf(
  { clock, nodeName, pod }: Place,
  { startedAtMs, isEnding }: GoingRun,
  environment: ReadonlyMap<string, string>,
) {
  const nowMs = clock.nowMs()
  const hostname = hostnameOf(pod, nodeName)
  return { hostname, ranForMs: nowMs - startedAtMs, isEnding, nowMs, environment }
}
