/** Connections to webhooks: nothing is sent before the server's certificate was judged as Go judges it. */
import { Agent } from 'node:https'
import type { RequestOptions } from 'node:https'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect } from 'node:tls'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import type { Clock } from '@gyropilot/foundation'
import { presentedBy, serverCertificateProblem } from '@gyropilot/foundation/x509'
import type { CertificateAndKey } from '@gyropilot/foundation/x509'

const HANDSHAKE_TIMEOUT_MS = 10_000

/** The server has not proved that it is who was asked for. */
export class HandshakeError extends Error {}

/** `open`: connects, where that is not done by TCP. */
type AgentOptions = RequestOptions & { readonly open?: () => Duplex }

type Connected = (error: Error | null, socket: Duplex) => void

interface Trust {
  /** PEM. Absent: those of the platform. */
  readonly authoritiesPem?: string
  /** Any certificate will do. Default: false. */
  readonly insecure?: boolean
  /** What is shown to a server that asks. */
  readonly own?: CertificateAndKey
}

export class CheckingAgent extends Agent {
  readonly #trust: Trust
  readonly #clock: Clock

  constructor(trust: Trust, clock: Clock) {
    super({ keepAlive: true })
    this.#trust = trust
    this.#clock = clock
  }

  override createConnection(options: AgentOptions, connected: Connected): undefined {
    const { authoritiesPem, own } = this.#trust
    const socket = connect({
      ...(options as ConnectionOptions),
      ...(options.open === undefined ? {} : { socket: options.open() }),
      ...(authoritiesPem === undefined ? {} : { ca: authoritiesPem }),
      ...(own === undefined ? {} : { cert: own.certificatePem, key: own.privateKeyPem }),
      rejectUnauthorized: false,
      allowPartialTrustChain: true,
      checkServerIdentity: () => undefined,
    })
    const settle = (error: Error | null): void => {
      timer.cancel()
      socket.off('error', settle)
      socket.off('secureConnect', onSecure)
      if (error !== null) socket.on('error', () => {}).destroy()
      connected(error, socket)
    }
    const onSecure = (): void => settle(this.#judge(socket, options as ConnectionOptions))
    // Whoever asked may have given up long before: the connection must not stay.
    const timer = this.#clock.after(HANDSHAKE_TIMEOUT_MS, () =>
      settle(new HandshakeError('net/http: TLS handshake timeout')),
    )
    socket.once('error', settle)
    socket.once('secureConnect', onSecure)
    return undefined
  }

  #judge(socket: TLSSocket, { host, servername }: ConnectionOptions): HandshakeError | null {
    if (this.#trust.insecure) return null
    const presented = presentedBy(socket)
    const problem =
      presented.length === 0
        ? { text: 'no certificate was shown' }
        : serverCertificateProblem({
            presented,
            chainError: socket.authorized ? undefined : String(socket.authorizationError),
            host:
              servername === undefined || servername === '' || isIP(servername)
                ? host!
                : servername,
            authoritiesPem: this.#trust.authoritiesPem,
            nowMs: this.#clock.nowMs(),
          })
    if (problem === undefined) return null
    return new HandshakeError(`tls: failed to verify certificate: ${problem.text}`)
  }
}
