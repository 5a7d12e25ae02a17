/** A port for a manager: probes and metrics, or webhooks. Contract: docs/behaviour/runtime/custom-controllers.md, Manager, Webhooks. */
import type * as nodeHttp from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type * as nodeHttps from 'node:https'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { errorText, every, silentLogger } from '@gyropilot/foundation'
import type { Clock, HostEnvironment, Logger } from '@gyropilot/foundation'
import type { HttpAnswer } from '../controller-manager/health-checks.ts'
import type { Runnable } from '../controller-manager/runnable.ts'

/** Not imported: of node:http that costs 15 MiB, see http1-connections.ts of the client. */
const load = createRequire(import.meta.url)

/** An AdmissionReview has two objects of 3 MiB at most. */
const MOST_BODY_BYTES = 7 << 20
const READ_AGAIN_EVERY_MS = 10_000

/** What a server was asked, with all of its body. */
export interface HttpRequest {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly body: string
}

/** Only the port is needed. */
export interface HttpServerOptions {
  /** 0: any that is free, see `port` of the server. */
  readonly port: number
  /** The address to listen at. Default: all of the machine. */
  readonly host?: string
  /** HTTPS. The files are read again every 10 s, so that a certificate may be rotated. */
  readonly tls?: {
    readonly certFile: string
    readonly keyFile: string
    readonly host: Pick<HostEnvironment, 'readTextFile'>
    readonly clock: Clock
  }
  readonly logger?: Logger
}

type Answering = (request: HttpRequest) => HttpAnswer | undefined | Promise<HttpAnswer | undefined>

/** For `servers` and `addWebhook` of a manager. */
export interface HttpServer extends Pick<Runnable, 'start'> {
  /** The port, as soon as it listens; rejects with the error of a start that fails. */
  readonly port: Promise<number>
}

/**
 * Answers what `answer` says; 404 where that is nothing, 500 where it throws. `start` rejects when it cannot listen, which
 * ends the manager, and resolves after its signal aborted and what was under way has its answer.
 */
export function httpServer(options: HttpServerOptions, answer: Answering): HttpServer {
  const listening = Promise.withResolvers<number>()
  // Who does not ask for the port does not miss it.
  listening.promise.catch(() => {})
  return {
    port: listening.promise,
    async start(signal) {
      const { port, host, tls, logger = silentLogger } = options
      const server = await serverOf(tls, responder(answer, logger, signal))
        .then((made) => listen(made, { port, host }))
        .catch((error: unknown) => {
          listening.reject(error)
          throw error
        })
      listening.resolve((server.address() as AddressInfo).port)
      const rotation = tls && every(tls.clock, READ_AGAIN_EVERY_MS, rotator(server, tls, logger))
      if (!signal.aborted)
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      rotation?.cancel()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function serverOf(
  tls: TlsFilesOptions | undefined,
  respond: ReturnType<typeof responder>,
): Promise<Server> {
  if (tls === undefined) return (load('node:http') as typeof nodeHttp).createServer(respond)
  return (load('node:https') as typeof nodeHttps).createServer(await materialOf(tls), respond)
}

async function listen(
  server: Server,
  address: Pick<HttpServerOptions, 'port' | 'host'>,
): Promise<Server> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(address, resolve)
  })
  return server
}

type TlsFilesOptions = NonNullable<HttpServerOptions['tls']>

async function materialOf({ host, certFile, keyFile }: TlsFilesOptions) {
  const [cert, key] = await Promise.all([host.readTextFile(certFile), host.readTextFile(keyFile)])
  return { cert, key }
}

/** Of two files that are replaced one after the other the pair may not fit for a moment: the former one is shown on. */
function rotator(server: Server, tls: TlsFilesOptions, logger: Logger): () => void {
  const rotate = async (): Promise<void> => {
    try {
      ;(server as HttpsServer).setSecureContext(await materialOf(tls))
    } catch (error) {
      logger.error(error, 'The certificate could not be read again; going on with the old one')
    }
  }
  return () => void rotate()
}

function responder(answer: Answering, logger: Logger, signal: AbortSignal) {
  const answerTo = async (request: IncomingMessage): Promise<HttpAnswer> => {
    const body = await bodyOf(request)
    if (body === undefined) return TOO_LARGE
    const { method = 'GET', url: target = '/' } = request
    try {
      return (await answer({ method, target, body })) ?? NOT_FOUND
    } catch (error) {
      logger.error(error, 'A request could not be answered', { method, target })
      return plain(500, `internal server error: ${errorText(error)}`)
    }
  }
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const { status, contentType, body } = await answerTo(request)
      // A connection that is kept alive would hold up the stop.
      const closing = signal.aborted || status === TOO_LARGE.status ? { connection: 'close' } : {}
      response.writeHead(status, { 'content-type': contentType, ...closing }).end(body)
    } catch {
      // It was broken off: nobody waits for an answer.
      response.destroy()
    }
  }
}

/** Undefined: too large. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of request.iterator({ destroyOnReturn: false })) {
    bytes += piece.length
    if (bytes > MOST_BODY_BYTES) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function plain(status: number, text: string): HttpAnswer {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${text}\n` }
}

const NOT_FOUND = plain(404, '404 page not found')
const TOO_LARGE = plain(413, `the body is larger than ${MOST_BODY_BYTES} bytes`)
