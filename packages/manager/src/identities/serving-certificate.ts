/** Which certificate the manager serves. Contract: docs/behaviour/runtime/manager.md, Serving. */
import type { Clock, HostEnvironment, RandomSource } from '@gyropilot/foundation'
import { FileError, errorText, integerBetween } from '@gyropilot/foundation'
import {
  generateKeyPair,
  issueCertificate,
  keyPairProblem,
  privateKeyPem,
} from '@gyropilot/foundation/x509'
import type { CertificateAndKey } from '@gyropilot/foundation/x509'
import { managerErrors } from '../errors.ts'
import { parseCertificateFiles } from '../serving/named-certificates.ts'
import type { NamedCertificate } from '../system/https-server.ts'

const YEAR_MS = 365 * 24 * 3600 * 1000

export interface ServingCertificateOptions {
  readonly certFile: string
  readonly keyFile: string
  /** Where the pair is kept when no files are named; empty: it is made anew for each run. */
  readonly certDir: string
  /** Of the files there, without ending. */
  readonly pairName: string
  readonly bindAddress: string
  readonly host: Pick<HostEnvironment, 'readTextFile'>
  readonly clock: Clock
  readonly random: RandomSource
  write(certFile: string, keyFile: string, pair: CertificateAndKey): Promise<void>
}

/**
 * The pairs of --tls-sni-cert-key, read anew with each call. Rejects with SERVING_FAILED, unless `former` answers what stands at that place
 * instead of a pair that cannot be read.
 */
export async function namedCertificates(
  host: Pick<HostEnvironment, 'readTextFile'>,
  uses: readonly string[],
  former?: (place: number, error: unknown) => NamedCertificate,
): Promise<readonly NamedCertificate[]> {
  return Promise.all(
    uses.map(async (use, place) => {
      try {
        const { certFile, keyFile, names } = parseCertificateFiles(use)
        return { ...(await readPair(host, 'sni-serving-cert', certFile, keyFile)), names }
      } catch (error) {
        const message = `failed to load SNI cert and key: ${errorText(error)}`
        const failure = managerErrors.make('SERVING_FAILED', message, { cause: error })
        if (former === undefined) throw failure
        return former(place, failure)
      }
    }),
  )
}

/** The pair to serve now, and how to read it again later. */
interface ServingCertificate {
  readonly pair: CertificateAndKey
  /** Rejects when it cannot be read, or is no pair. One made in memory stays what it is. */
  reload(): Promise<CertificateAndKey>
}

/** The files of --tls-cert-file and --tls-private-key-file, else those of --cert-dir, else one made in memory. */
export async function servingCertificate(
  options: ServingCertificateOptions,
): Promise<ServingCertificate> {
  const { certFile, keyFile, certDir, pairName } = options
  try {
    if (certFile !== '') return await fromFiles(options, certFile, keyFile)
    if (certDir === '') return inMemory(selfSigned(options))
    const kept = [`${certDir}/${pairName}.crt`, `${certDir}/${pairName}.key`] as const
    await writeWhenAbsent(options, ...kept)
    return await fromFiles(options, ...kept)
  } catch (error) {
    throw managerErrors.make('SERVING_FAILED', errorText(error), { cause: error })
  }
}

async function fromFiles(
  { host }: ServingCertificateOptions,
  certFile: string,
  keyFile: string,
): Promise<ServingCertificate> {
  const reload = (): Promise<CertificateAndKey> => readPair(host, 'serving-cert', certFile, keyFile)
  return { pair: await reload(), reload }
}

/** Throws, in Go's words, when the files cannot be read or are no pair. `purpose` is how Go calls what they are for. */
async function readPair(
  host: Pick<HostEnvironment, 'readTextFile'>,
  purpose: string,
  certFile: string,
  keyFile: string,
): Promise<CertificateAndKey> {
  const certificatePem = await host.readTextFile(certFile)
  const privateKeyPem = await host.readTextFile(keyFile)
  const name = JSON.stringify(`${purpose}::${certFile}::${keyFile}`)
  if (certificatePem === '' || privateKeyPem === '')
    throw new Error(`missing content for serving cert ${name}`)
  const problem = keyPairProblem(certificatePem, privateKeyPem)
  if (problem !== undefined) throw new Error(problem)
  return { certificatePem, privateKeyPem }
}

function inMemory(pair: CertificateAndKey): ServingCertificate {
  return { pair, reload: () => Promise.resolve(pair) }
}

/** One file of two is a mistake of somebody that must not be written over. */
async function writeWhenAbsent(
  options: ServingCertificateOptions,
  certFile: string,
  keyFile: string,
): Promise<void> {
  const [hasCert, hasKey] = await Promise.all([
    isThere(options, certFile),
    isThere(options, keyFile),
  ])
  if (hasCert && hasKey) return
  if (hasCert !== hasKey) {
    const absent = hasCert ? keyFile : certFile
    throw new Error(
      `error creating self-signed certificates: error reading ${absent}, certificate and key must be supplied as a pair`,
    )
  }
  try {
    await options.write(certFile, keyFile, selfSigned(options))
  } catch (error) {
    throw new Error(`error creating self-signed certificates: ${errorText(error)}`, {
      cause: error,
    })
  }
}

async function isThere({ host }: ServingCertificateOptions, path: string): Promise<boolean> {
  try {
    await host.readTextFile(path)
    return true
  } catch (error) {
    if (error instanceof FileError && error.code === 'ENOENT') return false
    throw error
  }
}

function selfSigned({ bindAddress, clock, random }: ServingCertificateOptions): CertificateAndKey {
  const { publicKey, privateKey } = generateKeyPair()
  const nowMs = clock.nowMs()
  const subject = { commonName: 'localhost' }
  const unspecified = bindAddress === '0.0.0.0' || bindAddress === '::'
  const isAddress = /^[\d.]+$|:/.test(bindAddress)
  const certificatePem = issueCertificate(
    {
      subject,
      publicKey,
      usage: 'server',
      dnsNames: ['localhost'],
      ipAddresses: ['127.0.0.1', ...(unspecified || !isAddress ? [] : [bindAddress])],
      serialNumber: Uint8Array.from({ length: 16 }, () => integerBetween(random, 0, 256)),
      notBeforeMs: nowMs - 3_600_000,
      notAfterMs: nowMs + YEAR_MS,
    },
    { subject, privateKey },
  )
  return { certificatePem, privateKeyPem: privateKeyPem(privateKey) }
}
