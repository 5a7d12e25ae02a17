/** Which certificate the manager serves. Contract: docs/behaviour/runtime/manager.md, Serving. */
import type { Clock, HostEnvironment, RandomSource } from '@gyropilot/foundation'
import { errorText, integerBetween } from '@gyropilot/foundation'
import { generateKeyPair, issueCertificate, privateKeyPem } from '@gyropilot/foundation/x509'
import type { CertificateAndKey } from '@gyropilot/foundation/x509'
import { managerErrors } from './errors.ts'

const YEAR_MS = 365 * 24 * 3600 * 1000

export interface ServingCertificateOptions {
  readonly certFile: string
  readonly keyFile: string
  readonly bindAddress: string
  readonly host: Pick<HostEnvironment, 'readTextFile'>
  readonly clock: Clock
  readonly random: RandomSource
}

/** The files of --tls-cert-file and --tls-private-key-file, else one made in memory for this run. */
export async function servingCertificate(
  options: ServingCertificateOptions,
): Promise<CertificateAndKey> {
  const { certFile, keyFile, host } = options
  if (certFile === '') return selfSigned(options)
  try {
    return {
      certificatePem: await host.readTextFile(certFile),
      privateKeyPem: await host.readTextFile(keyFile),
    }
  } catch (error) {
    throw managerErrors.make(
      'SERVING_FAILED',
      `unable to load server certificate: ${errorText(error)}`,
      {
        cause: error,
      },
    )
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
