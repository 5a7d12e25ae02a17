import type { X509Certificate } from 'node:crypto'
import { parseTime } from '@gyropilot/api'
import { FileError, errorText } from '@gyropilot/foundation'
import type { Clock, HostEnvironment, Logger, MetricsRegistry } from '@gyropilot/foundation'
import { certificatesOfPem, keyPairProblem } from '@gyropilot/foundation/x509'
import { clientErrors } from '../errors.ts'
import type { TlsMaterial, TlsSource } from '../http-transport/tls-source.ts'
import type { RestConfig } from '../kubeconfig/rest-config.ts'
import type { CredentialHeaders, Credentials } from './credentials.ts'
import { execMetrics } from './exec-metrics.ts'
import type { ExecMetrics } from './exec-metrics.ts'

const API_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']

interface Credential {
  /** One object for as long as this credential is used: by it a 401 says which credential was refused. */
  readonly headers: CredentialHeaders
  readonly certificate: Certificate | undefined
  readonly expiresMs: number | undefined
}

interface Certificate {
  readonly cert: string
  readonly key: string
  readonly validFromMs: number
  readonly validToMs: number
}

interface ExecContext {
  readonly host: Pick<HostEnvironment, 'runCommand' | 'readTextFile' | 'interactive'>
  readonly clock: Clock
  readonly logger?: Logger
  readonly metrics?: MetricsRegistry
}

/**
 * Credentials from a program: a bearer token, a client certificate, or both. It runs on first use, when its credential has
 * expired, and after the server answered 401. Only a new certificate closes connections.
 */
export class ExecCredentials implements Credentials {
  readonly #config: RestConfig
  readonly #context: ExecContext
  readonly #metrics: ExecMetrics
  readonly #listeners: (() => void)[] = []
  #credential: Credential | undefined
  #refreshing: Promise<Credential> | undefined

  constructor(config: RestConfig, context: ExecContext) {
    this.#config = config
    this.#context = context
    this.#metrics = execMetrics(context.metrics)
    if (context.metrics === undefined) return
    this.#metrics.lifetimes.add(() => {
      const validToMs = this.#credential?.certificate?.validToMs
      return validToMs && (validToMs - context.clock.nowMs()) / 1000
    })
  }

  async headers(): Promise<CredentialHeaders> {
    return (await this.#current()).headers
  }

  async rejected(headers: CredentialHeaders): Promise<void> {
    // Somebody else's 401 has run the plug-in already, perhaps to the same token or to a certificate, which headers do not show.
    if (this.#credential !== undefined && headers !== this.#credential.headers) return
    try {
      await this.#refresh()
    } catch (error) {
      this.#context.logger?.error(error, 'refreshing credentials')
    }
  }

  /** TLS settings with the plug-in's certificate in place of the configured one. */
  tls(base: TlsSource): TlsSource {
    return {
      load: async (): Promise<TlsMaterial> => {
        const [material, { certificate }] = await Promise.all([base.load(), this.#current()])
        if (certificate === undefined) return material
        return { ...material, cert: certificate.cert, key: certificate.key }
      },
      onChange: (listener) => void this.#listeners.push(listener),
    }
  }

  async #current(): Promise<Credential> {
    const { expiresMs } = this.#credential ?? {}
    const expired = expiresMs !== undefined && this.#context.clock.nowMs() >= expiresMs
    return this.#credential === undefined || expired ? this.#refresh() : this.#credential
  }

  #refresh(): Promise<Credential> {
    this.#refreshing ??= this.#run().finally(() => (this.#refreshing = undefined))
    return this.#refreshing
  }

  async #run(): Promise<Credential> {
    const before = this.#credential
    const credential = this.#decode(await this.#output())
    this.#credential = credential
    if (before !== undefined && credential.certificate?.cert !== before.certificate?.cert) {
      const { validFromMs } = before.certificate ?? {}
      if (validFromMs !== undefined) {
        const ageMs = this.#context.clock.nowMs() - validFromMs
        this.#metrics.rotationAgeSeconds.observe(ageMs / 1000)
      }
      for (const listener of this.#listeners) listener()
    }
    return credential
  }

  async #output(): Promise<string> {
    const { command, args, env, apiVersion, interactiveMode, installHint } = this.#config.exec!
    const { host } = this.#context
    const mode = interactiveMode === '' ? 'IfAvailable' : interactiveMode
    if (mode === 'Always' && !host.interactive) {
      throw failed('exec plugin cannot support interactive mode: standard input is not a terminal')
    }
    const interactive = mode !== 'Never' && host.interactive
    const info = JSON.stringify({
      kind: 'ExecCredential',
      apiVersion,
      spec: { ...(await this.#clusterInfo()), interactive },
    })
    const variables = {
      ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
      KUBERNETES_EXEC_INFO: info,
    }
    let result
    try {
      result = await host.runCommand({ command, args, env: variables, interactive })
    } catch (error) {
      const notFound = error instanceof FileError && error.code === 'ENOENT'
      this.#metrics.calls.increment({
        call_status: notFound ? 'plugin_not_found_error' : 'client_internal_error',
        code: '1',
      })
      if (!notFound) throw failed(`exec: ${String(error)}`, error)
      const hint = installHint === '' ? '' : `; ${installHint.trim().replaceAll(/\s+/g, ' ')}`
      throw clientErrors.make(
        'EXEC_PLUGIN_NOT_FOUND',
        `getting credentials: exec: executable ${command} not found: ` +
          `it is a client-go credential plugin that is not installed${hint}`,
        { cause: error },
      )
    }
    if (result.exitCode !== 0) {
      this.#metrics.calls.increment({
        call_status: 'plugin_execution_error',
        code: String(result.exitCode),
      })
      throw failed(`exec: executable ${command} failed with exit code ${result.exitCode}`)
    }
    this.#metrics.calls.increment({ call_status: 'no_error', code: '0' })
    return result.stdout
  }

  async #clusterInfo(): Promise<{ cluster?: unknown }> {
    const { exec, server, tls, proxyUrl, disableCompression, execClusterConfig } = this.#config
    if (!exec!.provideClusterInfo) return {}
    const authorities = await this.#authorities()
    return {
      cluster: {
        server,
        ...(tls.serverName ? { 'tls-server-name': tls.serverName } : {}),
        ...(tls.insecure ? { 'insecure-skip-tls-verify': true } : {}),
        ...(authorities
          ? { 'certificate-authority-data': Buffer.from(authorities).toString('base64') }
          : {}),
        ...(proxyUrl ? { 'proxy-url': proxyUrl } : {}),
        ...(disableCompression ? { 'disable-compression': true } : {}),
        ...(execClusterConfig === undefined ? {} : { config: execClusterConfig }),
      },
    }
  }

  /** The plug-in is told what they are, not in which file. */
  async #authorities(): Promise<string | undefined> {
    const { caData, caFile } = this.#config.tls
    if (caData || caFile === undefined) return caData
    try {
      return await this.#context.host.readTextFile(caFile)
    } catch (error) {
      throw failed(`failed to load CA bundle for execProvider: ${errorText(error)}`, error)
    }
  }

  #decode(output: string): Credential {
    const wanted = this.#config.exec!.apiVersion
    let answer: { apiVersion?: unknown; kind?: unknown; status?: Record<string, unknown> | null }
    try {
      answer = JSON.parse(output) as typeof answer
    } catch (error) {
      throw failed(`decoding stdout: ${String(error)}`, error)
    }
    if (answer === null || typeof answer !== 'object' || answer.kind !== 'ExecCredential') {
      throw failed('decoding stdout: the answer is no ExecCredential')
    }
    if (answer.apiVersion !== wanted) {
      throw failed(
        `exec plugin is configured to use API version ${wanted}, plugin returned version ${String(answer.apiVersion)}`,
      )
    }
    if (typeof answer.status !== 'object' || answer.status === null) {
      throw failed("exec plugin didn't return a status field")
    }
    const text = (name: string): string | undefined => {
      const value = answer.status![name]
      return typeof value === 'string' && value !== '' ? value : undefined
    }
    const token = text('token')
    const cert = text('clientCertificateData')
    const key = text('clientKeyData')
    if (token === undefined && cert === undefined && key === undefined) {
      throw failed("exec plugin didn't return a token or cert/key pair")
    }
    if ((cert === undefined) !== (key === undefined)) {
      throw failed('exec plugin returned only certificate or key, not both')
    }
    const problem = cert === undefined ? undefined : keyPairProblem(cert, key!)
    if (problem !== undefined) throw failed(`failed parsing client key/certificate: ${problem}`)
    const expires = text('expirationTimestamp')
    const expiresMs = parseTime(expires)
    // It would count as one that never expires.
    if (expires !== undefined && expiresMs === undefined)
      throw failed(`decoding stdout: ${JSON.stringify(expires)} is no time`)
    return {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      certificate: cert === undefined || key === undefined ? undefined : certificateOf(cert, key),
      expiresMs,
    }
  }
}

function certificateOf(cert: string, key: string): Certificate {
  const [{ validFromDate, validToDate }] = certificatesOfPem(cert) as [X509Certificate]
  return { cert, key, validFromMs: validFromDate.getTime(), validToMs: validToDate.getTime() }
}

/** Throws for a plug-in that could not be understood, before it is run. */
export function refuseApiVersion(apiVersion: string): void {
  if (!API_VERSIONS.includes(apiVersion))
    throw clientErrors.make(
      'KUBECONFIG_INVALID',
      `exec plugin: invalid apiVersion ${JSON.stringify(apiVersion)}`,
    )
}

function failed(text: string, cause?: unknown): Error {
  return clientErrors.make('EXEC_PLUGIN_FAILED', `getting credentials: ${text}`, { cause })
}
