/**
 * Identities of controllers with --use-service-account-credentials: a service account of kube-system each, whose token is asked
 * for and renewed here. Contract: docs/behaviour/runtime/manager.md, Client identities.
 */
import { resources } from '@gyropilot/api'
import type { KubernetesObject } from '@gyropilot/api'
import { authenticatedTransport, isAlreadyExists, isNotFound } from '@gyropilot/client'
import type { Client, CredentialHeaders, Credentials, Transport } from '@gyropilot/client'
import { sleep } from '@gyropilot/foundation'
import type { Clock, Logger } from '@gyropilot/foundation'

const NAMESPACE = 'kube-system'
const LIFETIME_SECONDS = 3600
const LEAST_LIFETIME_MS = 600_000
/** Renewed when this part of the lifetime is left. */
const RENEW_AT = 0.2
const WAITS_MS = [500, 1_000, 2_000]

interface TokenRequest extends KubernetesObject {
  readonly spec: { readonly expirationSeconds?: number; readonly audiences?: readonly string[] }
  readonly status?: { readonly token: string; readonly expirationTimestamp: string }
}

interface ServiceAccountTransportsOptions {
  /** With root credentials: makes accounts and asks for tokens. */
  readonly root: Client
  /** Without credentials. */
  readonly anonymous: Transport
  readonly clock: Clock
  readonly logger: Logger
}

/** One transport per service account, shared by all its clients. */
export class ServiceAccountTransports {
  readonly #options: ServiceAccountTransportsOptions
  readonly #transports = new Map<string, Transport>()
  readonly #tokens = new Map<string, ServiceAccountToken>()

  constructor(options: ServiceAccountTransportsOptions) {
    this.#options = options
  }

  transport(account: string): Transport {
    let transport = this.#transports.get(account)
    if (transport === undefined) {
      transport = authenticatedTransport(this.#options.anonymous, this.#token(account))
      this.#transports.set(account, transport)
    }
    return transport
  }

  /** Asks for the token of `account` now, so that its first request finds it. What fails is asked for again then. */
  prepare(account: string): void {
    Promise.resolve(this.#token(account).headers()).catch(() => {})
  }

  #token(account: string): ServiceAccountToken {
    let token = this.#tokens.get(account)
    if (token === undefined)
      this.#tokens.set(account, (token = new ServiceAccountToken(account, this.#options)))
    return token
  }
}

interface Token {
  readonly authorization: string
  readonly renewAtMs: number
}

/**
 * The token of one account: asked for at first use, renewed before it ends, dropped after a 401. One that cannot be renewed is used on:
 * it is good for a fifth of its life, and for longer where clocks differ.
 */
class ServiceAccountToken implements Credentials {
  readonly #account: string
  readonly #options: ServiceAccountTransportsOptions
  #token: Token | undefined
  #asking: Promise<Token> | undefined

  constructor(account: string, options: ServiceAccountTransportsOptions) {
    this.#account = account
    this.#options = options
  }

  headers(): CredentialHeaders | Promise<CredentialHeaders> {
    const token = this.#token
    const isGood = token !== undefined && this.#options.clock.monotonicMs() < token.renewAtMs
    return isGood ? { authorization: token.authorization } : this.#renewed(token)
  }

  async #renewed(known: Token | undefined): Promise<CredentialHeaders> {
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined))
    let token = known
    try {
      token = this.#token = await this.#asking
    } catch (error) {
      // Refused meanwhile, it is dropped.
      if (token === undefined || this.#token !== token) throw error
      this.#options.logger.error(error, 'Unable to rotate token', { account: this.#account })
    }
    return { authorization: token.authorization }
  }

  rejected(headers: CredentialHeaders): void {
    if (this.#token?.authorization === headers['authorization']) this.#token = undefined
  }

  async #ask(): Promise<Token> {
    const { clock, logger } = this.#options
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#askOnce()
      } catch (error) {
        const waitMs = WAITS_MS[attempt]
        if (waitMs === undefined) throw error
        logger.verbosity(2).info('Asking for a token again', { account: this.#account, waitMs })
        await sleep(clock, waitMs)
      }
    }
  }

  /** Accounts are there but for once in a cluster's life: looking for them first would be a request more at every start. */
  async #askOnce(): Promise<Token> {
    const { clock } = this.#options
    let answer: TokenRequest
    try {
      answer = await this.#request()
    } catch (error) {
      if (!isNotFound(error)) throw error
      await this.#makeAccount()
      answer = await this.#request()
    }
    const { token = '', expirationTimestamp = '' } = answer.status ?? {}
    const givenMs = Date.parse(expirationTimestamp) - clock.nowMs()
    const lifetimeMs = Math.max(LEAST_LIFETIME_MS, givenMs || 0)
    const renewAtMs = clock.monotonicMs() + lifetimeMs * (1 - RENEW_AT)
    return { authorization: `Bearer ${token}`, renewAtMs }
  }

  #request(): Promise<TokenRequest> {
    const request: TokenRequest = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: LIFETIME_SECONDS },
    }
    return this.#options.root
      .resource(resources.serviceaccounts, NAMESPACE)
      .createSubresource<TokenRequest>(this.#account, 'token', request)
  }

  async #makeAccount(): Promise<void> {
    const { root } = this.#options
    await root
      .resource(resources.namespaces)
      .create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
      .catch(() => {})
    try {
      await root.resource(resources.serviceaccounts, NAMESPACE).create({
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: this.#account, namespace: NAMESPACE },
      })
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
  }
}
