/** A port of a pod as whoever connects finds it: a program that takes the connection, or pages, in plain text or within TLS. */
import type { Container } from '@gyropilot/api'
import type { Clock } from '@gyropilot/foundation'
import type { CertificateAndKey } from '@gyropilot/foundation/x509'
import { logsRequests, requestLine } from '../answers/agnhost-server.ts'
import type { Dial, Page, PortStreams, Request, Secure } from '../answers/port-answers.ts'
import { programOf } from '../behavior/image-program.ts'
import { IMAGE_TLS_FILES, tlsFilesOf } from '../commands/image-programs/agnhost-command.ts'
import { environmentOf, filesOf } from '../container/container-commands.ts'
import type { Place } from '../container/container-commands.ts'
import { answerOf } from '../container/web-answers.ts'
import { FileError } from '../files/file-error.ts'
import { absolute } from '../files/file-tree.ts'
import type { PodWorker } from '../pod/pod-worker.ts'
import { consoleOf } from '../running/local-pod.ts'
import type { LocalContainer } from '../running/local-pod.ts'

interface OutsideWorld {
  readonly clock: Clock
  /** Absent: no port leads anywhere outside. */
  readonly dial: Dial | undefined
  /** Absent: programs that speak TLS speak in plain text. */
  readonly secure: Secure | undefined
}

/** Serves one connection; resolves with a text when nobody listens. */
export async function openPort(
  worker: PodWorker,
  port: number,
  streams: PortStreams,
  { clock, dial, secure }: OutsideWorld,
): Promise<string | undefined> {
  for (const { listeners, state } of worker.local.containers) {
    const accepted = state.state === 'running' && listeners.get(port)
    if (!accepted) continue
    await accepted(streams)
    return undefined
  }
  const { listener, refusedText, servePort, targetOf } = await import('../answers/port-answers.ts')
  const containerOf = ({ name }: Container): LocalContainer | undefined =>
    worker.local.containers.find(({ spec: own }) => own.name === name)
  const isRunning = (each: Container): boolean => containerOf(each)?.state.state === 'running'
  const spec = listener(worker.pod, port, isRunning)
  const container = spec && containerOf(spec)
  let within = streams
  const speaksTls = secure !== undefined && streams.isWithinTls !== true
  if (container !== undefined && speaksTls && !targetOf(worker.pod, port)) {
    const own = await certificateAt(placeOf(worker, container), port)
    if (own === 'none') return refusedText(worker.pod, port)
    if (own !== undefined) within = secure(streams, own)
  }
  const answer = (request: Request): Promise<Page | undefined> =>
    answered(worker, container, request, streams.signal, clock)
  return servePort(worker.pod, port, within, dial, answer, isRunning)
}

function placeOf(worker: PodWorker, { spec, containerId = '' }: LocalContainer): Place {
  return worker.place(spec, containerId)
}

async function answered(
  worker: PodWorker,
  container: LocalContainer | undefined,
  request: Request,
  signal: AbortSignal,
  clock: Clock,
): Promise<Page | undefined> {
  if (container?.state.state !== 'running') return undefined
  const { startedAtMs } = container.state
  const page = await answerOf(
    placeOf(worker, container),
    { ...container, startedAtMs },
    request,
    signal,
  )
  if (page !== undefined && logsRequests(programOf(container.spec))) {
    const line = requestLine(request, clock.nowMs())
    await consoleOf(container, startedAtMs)?.print(Buffer.from(line))
  }
  return page
}

/** What it shows to whoever connects there. Undefined: it speaks in plain text; 'none': its files are not there, so it has not started. */
async function certificateAt(
  place: Place,
  port: number,
): Promise<CertificateAndKey | 'none' | undefined> {
  const words = programOf(place.container)
  const named = tlsFilesOf(words, port, await environmentOf(place))
  if (named === undefined) return undefined
  const tree = await filesOf(place)
  const [certificate, key] = [named.certificate, named.key].map((path) => absolute(path, ''))
  if (certificate === IMAGE_TLS_FILES.certificate && !tree.exists(certificate)) {
    const { imageCertificate } = await import('../answers/image-certificate.ts')
    return imageCertificate()
  }
  try {
    const [certificatePem, privateKeyPem] = await Promise.all([textOf(certificate!), textOf(key!)])
    return { certificatePem, privateKeyPem }
  } catch (error) {
    if (error instanceof FileError) return 'none'
    throw error
  }

  async function textOf(path: string): Promise<string> {
    return Buffer.from(await tree.read(path)).toString()
  }
}
