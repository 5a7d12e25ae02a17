/**
 * The stand-in for kube-apiserver that test harnesses start (controller-runtime's envtest and those of other languages), on the
 * embedded server. With GYRO_CONTROLLERS the controllers run too, which a harness never had: `*` or a list as of --controllers.
 */
import { createPrivateKey, createPublicKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import {
  createApiServer,
  createClusterCertificates,
  createMemoryStore,
} from '@gyropilot/api-server'
import type { ApiServer, ClusterCertificates, UserInfo } from '@gyropilot/api-server'
import type { ServerSettings } from '@gyropilot/cluster/live'
import {
  FileError,
  PrometheusRegistry,
  SystemClock,
  SystemRandom,
  errorText,
  exposeProcessMetrics,
  klogLogger,
  makeDirectory,
  settle,
  silentLogger,
} from '@gyropilot/foundation'
import type { Logger } from '@gyropilot/foundation'
import { exposeFeatureGates } from '@gyropilot/manager/feature-gates'
import { gyroErrors } from '../errors.ts'
import { replaceFile, replacePrivateFile } from '../up/files/private-file.ts'
import { wantedParts } from './wanted-parts.ts'
import { staticTokens } from './api-server-options.ts'
import type { ApiServerFlagOptions } from './api-server-options.ts'
import { endWithParent } from './end-with-parent.ts'

/** Resolves when it serves, and when the controllers do, if they were asked for. */
export async function serve(options: ApiServerFlagOptions): Promise<void> {
  endWithParent()
  for (const warning of options.warnings) process.stderr.write(`kube-apiserver: ${warning}\n`)
  const wanted = wantedParts(process.env)
  const clock = new SystemClock()
  const random = new SystemRandom()
  const metrics = new PrometheusRegistry()
  exposeProcessMetrics(metrics)
  const certificates = certificatesOf(options, clock, random)
  const world = {
    clock,
    random,
    logger: loggerOf(options, clock),
    metrics,
    store: createMemoryStore(clock),
    tokens: tokensOf(options),
  }
  const settings = serverSettings(options, certificates)
  if (wanted === undefined) {
    const { serviceAccountKey } = certificates
    exposeFeatureGates(metrics, options.featureGates)
    const server = createApiServer({ ...world, ...settings, serviceAccountKey })
    await listen(server, options, certificates)
    await server.start()
    return
  }
  // Most harnesses have no use for the controllers, and would wait for their code to be read.
  const { HarnessCluster } = await import('./parts.ts')
  const cluster = new HarnessCluster(
    { ...world, certificates, nextTurn: settle, serverOptions: settings },
    options.serviceRanges,
  )
  await listen(cluster.server, options, certificates)
  await cluster.start(wanted)
}

async function listen(
  server: ApiServer,
  { bindAddress: host, securePort: port }: ApiServerFlagOptions,
  { serving }: ClusterCertificates,
): Promise<void> {
  const { certificatePem, privateKeyPem: keyPem } = serving
  try {
    await server.listen({ host, port, certificatePem, keyPem })
  } catch (error) {
    throw gyroErrors.make('LISTEN_FAILED', errorText(error), { cause: error })
  }
}

/** Made in memory, but for what the flags name. */
function certificatesOf(
  options: ApiServerFlagOptions,
  clock: SystemClock,
  random: SystemRandom,
): ClusterCertificates {
  const made = createClusterCertificates({ clock, random, serverNames: [options.bindAddress] })
  return { ...made, serving: servingOf(options, made), serviceAccountKey: signingKeyOf(options) }
}

/** As kube-apiserver does it: the named files, else those of the folder, which are made when they are not there. */
function servingOf(
  { tlsCertFile, tlsPrivateKeyFile, certDir }: ApiServerFlagOptions,
  made: ClusterCertificates,
): ClusterCertificates['serving'] {
  const certificateFile = tlsCertFile || join(certDir, 'apiserver.crt')
  const keyFile = tlsPrivateKeyFile || join(certDir, 'apiserver.key')
  if (tlsCertFile === '' && !(existsSync(certificateFile) && existsSync(keyFile))) {
    try {
      makeDirectory(certDir, 0o755)
      // With its authority, which clients may then take from here.
      const chain = made.serving.certificatePem + made.authority.certificatePem
      replaceFile(certificateFile, chain, 0o644)
      replacePrivateFile(keyFile, made.serving.privateKeyPem)
    } catch (error) {
      throw unreadable(`error creating self-signed certificates: ${errorText(error)}`, error)
    }
    return made.serving
  }
  return { certificatePem: textOf(certificateFile), privateKeyPem: textOf(keyFile) }
}

function signingKeyOf({
  serviceAccountSigningKeyFile: file,
}: ApiServerFlagOptions): ClusterCertificates['serviceAccountKey'] {
  const pem = textOf(file)
  try {
    const privateKey = createPrivateKey(pem)
    const publicKey = createPublicKey(privateKey)
    const publicKeyPem = publicKey.export({ type: 'spki', format: 'pem' }) as string
    return { privateKey, publicKey, privateKeyPem: pem, publicKeyPem }
  } catch (error) {
    throw unreadable(
      `failed to parse service-account-issuer-key-file: ${file} holds no private key`,
      error,
    )
  }
}

function serverSettings(
  options: ApiServerFlagOptions,
  certificates: ClusterCertificates,
): ServerSettings {
  const { clientCaFile, frontProxyCaFile, advertiseAddress } = options
  const { proxyClientCertFile, proxyClientKeyFile } = options
  const own = certificates.authority.certificatePem
  return {
    // Certificates that the signing controllers issue are signed by the own one.
    clientAuthorityPem: clientCaFile === '' ? own : `${textOf(clientCaFile)}\n${own}`,
    ...(frontProxyCaFile !== '' && { frontProxyAuthorityPem: textOf(frontProxyCaFile) }),
    frontProxyNames: options.frontProxyNames,
    ...(proxyClientCertFile !== '' && {
      proxyClient: {
        certificatePem: textOf(proxyClientCertFile),
        privateKeyPem: textOf(proxyClientKeyFile),
      },
    }),
    anonymousAuthentication: options.anonymousAuthentication,
    authorizationModes: options.authorizationModes,
    admissionSelection: options.admissionSelection,
    ...(options.apiAudiences.length > 0 && { apiAudiences: options.apiAudiences }),
    serviceAccountIssuers: options.serviceAccountIssuers,
    otherServiceAccountKeys: options.serviceAccountKeyFiles.map(publicKeyOf),
    serviceRanges: options.serviceRanges,
    featureGates: Object.fromEntries(options.featureGates),
    runtimeConfig: options.runtimeConfig,
    hostname: hostname(),
    inFlight: { reading: options.readingLimit, mutating: options.mutatingLimit },
    ...(advertiseAddress !== '' && { advertiseAddress }),
  }
}

function tokensOf({ tokenAuthFile }: ApiServerFlagOptions): ReadonlyMap<string, UserInfo> {
  return tokenAuthFile === '' ? new Map() : staticTokens(textOf(tokenAuthFile))
}

/** Of a public key, a private one or a certificate. */
function publicKeyOf(file: string): KeyObject {
  try {
    return createPublicKey(textOf(file))
  } catch (error) {
    throw unreadable(`${file} holds no key and no certificate`, error)
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code = 'EIO' } = error as NodeJS.ErrnoException
    throw unreadable(new FileError('open', file, code).message, error)
  }
}

function loggerOf({ verbosity }: ApiServerFlagOptions, clock: SystemClock): Logger {
  if (verbosity === 0) return silentLogger
  return klogLogger({
    clock,
    verbosity,
    processId: process.pid,
    write: (line) => process.stderr.write(line),
  })
}

function unreadable(message: string, cause: unknown): Error {
  return gyroErrors.make('KUBE_APISERVER_FILE_UNREADABLE', message, { cause })
}
