import { errorText, silentLogger, withDeadline } from '@gyropilot/foundation'
import type { Clock, HostEnvironment, Logger } from '@gyropilot/foundation'
import { clientErrors } from '../errors.ts'
import { HttpTransport } from '../http-transport/http-transport.ts'
import { followingRedirects } from '../http-transport/redirects.ts'
import { ServerTransports } from '../http-transport/server-transports.ts'
import { withAuthProviderFields } from '../kubeconfig/parse.ts'
import type { AuthProviderConfig } from '../kubeconfig/kubeconfig.ts'
import type { TransportRequest } from '../transport.ts'
import type { Credentials } from './credentials.ts'
import { proxyFromEnvironment } from './proxy.ts'
import { tlsFromFiles } from './tls-files.ts'

/** A token is taken for expired so long before it is: clocks differ. */
const EXPIRES_EARLIER_MS = 10_000
const LONGEST_SHOWN = 80
/** All requests wait for the token: an issuer that never answers must not hold them up for ever. */
const EXCHANGE_TIMEOUT_MS = 30_000

export interface OidcContext {
  readonly host: HostEnvironment
  readonly clock: Clock
  readonly logger?: Logger
}

/**
 * The `oidc` auth-provider of a kubeconfig: its id-token as a bearer token, and when that has expired another one for the
 * refresh-token, from the token endpoint that the issuer's discovery document names (OpenID Connect Core, section 12). New
 * tokens are written into the kubeconfig they came from, since many issuers let a refresh-token be used once.
 * Contract: docs/behaviour/runtime/rest-client.md, Authentication.
 */
export class OidcCredentials implements Credentials {
  readonly #context: OidcContext
  readonly #origin: AuthProviderConfig['origin']
  #config: Readonly<Record<string, string>>
  #refreshing: Promise<void> | undefined

  constructor({ config, origin }: AuthProviderConfig, context: OidcContext) {
    for (const needed of ['idp-issuer-url', 'client-id'])
      if (!config[needed]) throw failed(`Must provide ${needed}`)
    this.#config = config
    this.#origin = origin
    this.#context = context
    if (config['extra-scopes']) {
      const { logger = silentLogger } = context
      logger
        .verbosity(2)
        .info('extra-scopes of the auth provider are not used: refresh requests send no scopes')
    }
  }

  async headers(): Promise<Readonly<Record<string, string>>> {
    if (!this.#isValid(this.#config['id-token'])) {
      this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined))
      await this.#refreshing
    }
    return { authorization: `Bearer ${this.#config['id-token']}` }
  }

  #isValid(idToken: string | undefined): boolean {
    if (!idToken) return false
    return expiryMsOf(idToken) > this.#context.clock.nowMs() + EXPIRES_EARLIER_MS
  }

  async #refresh(): Promise<void> {
    const refreshToken = this.#config['refresh-token']
    if (!refreshToken) throw failed('No valid id-token, and cannot refresh without refresh-token')
    const answer = await this.#askForTokens(await this.#tokenEndpoint(), refreshToken)
    const { id_token: idToken, refresh_token: nextRefreshToken } = answer
    if (typeof idToken !== 'string') {
      throw failed(
        'token response did not contain an id_token, either the scope "openid" wasn\'t requested upon login, ' +
          "or the provider doesn't support id_tokens as part of the refresh response",
      )
    }
    const tokens: Record<string, string> = { 'id-token': idToken }
    if (typeof nextRefreshToken === 'string' && nextRefreshToken !== '')
      tokens['refresh-token'] = nextRefreshToken
    await this.#save(tokens)
    this.#config = { ...this.#config, ...tokens }
  }

  async #tokenEndpoint(): Promise<string> {
    const issuer = this.#config['idp-issuer-url']!.replace(/\/$/, '')
    const { status, text } = await this.#exchange(`${issuer}/.well-known/openid-configuration`, {
      method: 'GET',
    })
    if (status !== 200)
      throw failed(`oidc: failed to query metadata endpoint ${status}: ${shown(text)}`)
    const endpoint = jsonObject(text)?.['token_endpoint']
    if (typeof endpoint !== 'string' || endpoint === '')
      throw failed("oidc: discovery object doesn't contain a token_endpoint")
    return endpoint
  }

  /** With the client's secret in a header first; issuers that do not take it there are asked with it in the body. */
  async #askForTokens(
    endpoint: string,
    refreshToken: string,
  ): Promise<Readonly<Record<string, unknown>>> {
    const id = this.#config['client-id']!
    const secret = this.#config['client-secret'] ?? ''
    const grant = { grant_type: 'refresh_token', refresh_token: refreshToken }
    const basic = Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)
    const inBody = { ...grant, client_id: id, ...(secret === '' ? {} : { client_secret: secret }) }
    const attempts: readonly { form: Record<string, string>; headers: Record<string, string> }[] = [
      { form: grant, headers: { authorization: `Basic ${basic.toString('base64')}` } },
      { form: inBody, headers: {} },
    ]
    let refusal = ''
    for (const { form, headers } of attempts) {
      const { status, text } = await this.#exchange(endpoint, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
        body: { bytes: Buffer.from(new URLSearchParams(form).toString()) },
      })
      const answer = status === 200 ? jsonObject(text) : undefined
      if (answer !== undefined) return answer
      refusal = `${status} ${shown(text)}`
    }
    throw failed(`failed to refresh token: oauth2: cannot fetch token: ${refusal}`)
  }

  async #exchange(
    address: string,
    request: Pick<TransportRequest, 'method' | 'body'> & { headers?: TransportRequest['headers'] },
  ): Promise<{ readonly status: number; readonly text: string }> {
    if (!URL.canParse(address)) throw failed(`oidc: ${JSON.stringify(address)} is not a URL`)
    const { origin, pathname, search } = new URL(address)
    const { clock, host } = this.#context
    const caData = this.#config['idp-certificate-authority-data']
    const files = {
      caFile: this.#config['idp-certificate-authority'] || undefined,
      caData: caData ? Buffer.from(caData, 'base64').toString() : undefined,
    }
    const tls = tlsFromFiles(files, host)
    const transport = new ServerTransports(
      origin,
      (server) =>
        new HttpTransport({ server, clock, tls, proxyUrl: proxyFromEnvironment(server, host) }),
    )
    using deadline = withDeadline(clock, EXCHANGE_TIMEOUT_MS)
    const { signal } = deadline
    try {
      const headers = { accept: 'application/json', ...request.headers }
      const response = await followingRedirects(transport, origin).send({
        ...request,
        path: pathname + search,
        headers,
        signal,
      })
      const pieces: Uint8Array[] = []
      if (response.body.kind === 'bytes')
        for await (const chunk of response.body.chunks) pieces.push(chunk)
      return { status: response.status, text: Buffer.concat(pieces).toString() }
    } catch (error) {
      const text = signal.aborted
        ? `no answer of ${origin} in ${EXCHANGE_TIMEOUT_MS / 1000}s`
        : errorText(error)
      throw failed(`oidc: ${text}`, error)
    } finally {
      await transport.close()
    }
  }

  async #save(tokens: Readonly<Record<string, string>>): Promise<void> {
    const { host } = this.#context
    if (this.#origin === undefined || host.writeTextFile === undefined) return
    const { path, user } = this.#origin
    try {
      const text = await withAuthProviderFields(await host.readTextFile(path), user, tokens)
      await host.writeTextFile(path, text)
    } catch (error) {
      throw failed(`could not persist new tokens: ${errorText(error)}`, error)
    }
  }
}

function expiryMsOf(idToken: string): number {
  const parts = idToken.split('.')
  if (parts.length !== 3) throw failed('ID Token is not a valid JWT')
  const expiry = jsonObject(Buffer.from(parts[1]!, 'base64url').toString())?.['exp']
  if (typeof expiry !== 'number') throw failed('parsing claims: no exp')
  return Math.trunc(expiry) * 1000
}

function jsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

function shown(text: string): string {
  return JSON.stringify(text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text)
}

function failed(message: string, cause?: unknown): Error {
  return clientErrors.make('AUTH_PROVIDER_FAILED', message, { cause })
}
