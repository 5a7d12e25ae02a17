/**
 * The certificates and keys of one cluster: made at the first start, read again at later ones.
 * File names are kubeadm's, so that other tools find them.
 */
import { X509Certificate, createPrivateKey, createPublicKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { integerBetween } from '@gyropilot/foundation'
import type { Clock, RandomSource } from '@gyropilot/foundation'
import {
  generateKeyPair,
  issueCertificate,
  keyPairProblem,
  privateKeyPem,
  publicKeyPem,
} from '@gyropilot/foundation/x509'
import type { CertificateAndKey, DistinguishedName } from '@gyropilot/foundation/x509'

/** Where the files are kept; names are relative, like `pki/ca.crt`. Private keys are written with `secret`. */
export interface CertificateFiles {
  read(name: string): string | undefined
  write(name: string, text: string, secret: boolean): void
}

interface ClusterCertificatesOptions {
  readonly clock: Clock
  /** For serial numbers only; keys come from the system's generator. */
  readonly random: RandomSource
  /** Absent: everything stays in memory. */
  readonly files?: CertificateFiles
  /** Names and addresses of the serving certificate beyond the usual ones. */
  readonly serverNames?: readonly string[]
  /** First address of the service range. Default `10.0.0.1`. */
  readonly serviceAddress?: string
  /** Default `cluster.local`. */
  readonly clusterDomain?: string
}

interface ServiceAccountKey {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  readonly privateKeyPem: string
  readonly publicKeyPem: string
}

export interface ClusterCertificates {
  /** Signs serving and client certificates, and what the signing controllers issue. */
  readonly authority: CertificateAndKey
  readonly frontProxyAuthority: CertificateAndKey
  /** `front-proxy-client`, of that authority: what the server shows to other API servers. */
  readonly frontProxyClient: CertificateAndKey
  readonly serving: CertificateAndKey
  /** `kubernetes-admin` of group `system:masters`. */
  readonly admin: CertificateAndKey
  readonly serviceAccountKey: ServiceAccountKey
  /** A client certificate of the cluster's authority, not kept: user = common name, groups = organizations. */
  issueClient(subject: DistinguishedName): CertificateAndKey
}

const YEAR_MS = 365 * 24 * 3600 * 1000
const AUTHORITY_LIFETIME_MS = 10 * YEAR_MS
const LEAF_LIFETIME_MS = YEAR_MS
/** Clocks of clients may be behind. */
const BACKDATE_MS = 5 * 60 * 1000
/** A leaf that ends sooner is made anew at start. */
const RENEW_BEFORE_MS = 30 * 24 * 3600 * 1000

/**
 * Those that are kept in the files, and made where they are not there, run out or do not belong together. Throws for an authority or a key
 * of service accounts that cannot be used, or whose private key is lost: what trusts it would trust another one no more.
 */
export function createClusterCertificates(
  options: ClusterCertificatesOptions,
): ClusterCertificates {
  const maker = new CertificateMaker(options)
  const authority = maker.authority('pki/ca', 'kubernetes')
  const frontProxyAuthority = maker.authority('pki/front-proxy-ca', 'front-proxy-ca')
  return {
    authority,
    frontProxyAuthority,
    frontProxyClient: maker.client('pki/front-proxy-client', frontProxyAuthority, {
      commonName: 'front-proxy-client',
      organizations: [],
    }),
    serving: maker.serving('pki/apiserver', authority),
    admin: maker.client('pki/admin', authority, {
      commonName: 'kubernetes-admin',
      organizations: ['system:masters'],
    }),
    serviceAccountKey: maker.serviceAccountKey('pki/sa'),
    issueClient: (subject) => maker.issue('client', subject, authority),
  }
}

class CertificateMaker {
  readonly #options: ClusterCertificatesOptions

  constructor(options: ClusterCertificatesOptions) {
    this.#options = options
  }

  authority(file: string, commonName: string): CertificateAndKey {
    const kept = this.#read(file)
    if (kept !== undefined) {
      const problem = keyPairProblem(kept.certificatePem, kept.privateKeyPem)
      if (problem === undefined) return kept
      throw new Error(`${file}.crt and ${file}.key: ${problem}`)
    }
    const privateKey = this.#privateKey(file, `${file}.crt`)
    // Somebody's own: no certificate is made with it.
    if (privateKey.asymmetricKeyType !== 'ec')
      throw new Error(`${file}.key is there, and ${file}.crt is not`)
    const subject = { commonName }
    const request = {
      subject,
      publicKey: createPublicKey(privateKey),
      usage: 'authority' as const,
      ...this.#validity(AUTHORITY_LIFETIME_MS),
    }
    const made = {
      certificatePem: issueCertificate(request, { subject, privateKey }),
      privateKeyPem: privateKeyPem(privateKey),
    }
    return this.#write(file, made)
  }

  serving(file: string, authority: CertificateAndKey): CertificateAndKey {
    const names = servingNames(this.#options)
    const kept = this.#read(file)
    if (kept !== undefined && this.#isUsable(kept, authority) && coversNames(kept, names))
      return kept
    return this.#write(
      file,
      this.issue('server', { commonName: 'kube-apiserver' }, authority, names),
    )
  }

  client(
    file: string,
    authority: CertificateAndKey,
    subject: DistinguishedName,
  ): CertificateAndKey {
    const kept = this.#read(file)
    if (kept !== undefined && this.#isUsable(kept, authority)) return kept
    return this.#write(file, this.issue('client', subject, authority))
  }

  issue(
    usage: 'server' | 'client',
    subject: DistinguishedName,
    authority: CertificateAndKey,
    names: ServingNames = { dnsNames: [], ipAddresses: [] },
  ): CertificateAndKey {
    const { publicKey, privateKey } = generateKeyPair()
    const issuer = {
      subject: subjectOf(authority.certificatePem),
      privateKey: createPrivateKey(authority.privateKeyPem),
    }
    const request = { subject, publicKey, usage, ...names, ...this.#validity(LEAF_LIFETIME_MS) }
    return {
      certificatePem: issueCertificate(request, issuer),
      privateKeyPem: privateKeyPem(privateKey),
    }
  }

  serviceAccountKey(file: string): ServiceAccountKey {
    const privateKey = this.#privateKey(file, `${file}.pub`)
    const publicKey = createPublicKey(privateKey)
    const key = {
      privateKey,
      publicKey,
      privateKeyPem: privateKeyPem(privateKey),
      publicKeyPem: publicKeyPem(publicKey),
    }
    const { files } = this.#options
    if (files?.read(`${file}.key`) === undefined)
      files?.write(`${file}.key`, key.privateKeyPem, true)
    if (files?.read(`${file}.pub`) === undefined)
      files?.write(`${file}.pub`, key.publicKeyPem, false)
    return key
  }

  /** The one that is kept, or a new one. It is written before its public half: with that half alone it was there, and is lost. */
  #privateKey(file: string, publicFile: string): KeyObject {
    const { files } = this.#options
    const kept = files?.read(`${file}.key`)
    if (kept !== undefined) return readPrivateKey(`${file}.key`, kept)
    if (files?.read(publicFile) !== undefined)
      throw new Error(`${publicFile} is there, and ${file}.key is not`)
    return generateKeyPair().privateKey
  }

  #read(file: string): CertificateAndKey | undefined {
    const certificatePem = this.#options.files?.read(`${file}.crt`)
    const keyPem = this.#options.files?.read(`${file}.key`)
    if (certificatePem === undefined || keyPem === undefined) return undefined
    return { certificatePem, privateKeyPem: keyPem }
  }

  #write(file: string, made: CertificateAndKey): CertificateAndKey {
    this.#options.files?.write(`${file}.key`, made.privateKeyPem, true)
    this.#options.files?.write(`${file}.crt`, made.certificatePem, false)
    return made
  }

  /** What a process that was killed has written in part is made anew. */
  #isUsable(kept: CertificateAndKey, authority: CertificateAndKey): boolean {
    if (keyPairProblem(kept.certificatePem, kept.privateKeyPem) !== undefined) return false
    const certificate = new X509Certificate(kept.certificatePem)
    if (certificate.validToDate.getTime() < this.#options.clock.nowMs() + RENEW_BEFORE_MS)
      return false
    return certificate.verify(new X509Certificate(authority.certificatePem).publicKey)
  }

  #validity(lifetimeMs: number): {
    serialNumber: Uint8Array
    notBeforeMs: number
    notAfterMs: number
  } {
    const nowMs = this.#options.clock.nowMs()
    const serialNumber = Uint8Array.from({ length: 16 }, () =>
      integerBetween(this.#options.random, 0, 256),
    )
    return { serialNumber, notBeforeMs: nowMs - BACKDATE_MS, notAfterMs: nowMs + lifetimeMs }
  }
}

function readPrivateKey(file: string, pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (error) {
    throw new Error(`${file}: it holds no private key`, { cause: error })
  }
}

interface ServingNames {
  readonly dnsNames: readonly string[]
  readonly ipAddresses: readonly string[]
}

function servingNames(options: ClusterCertificatesOptions): ServingNames {
  const domain = options.clusterDomain ?? 'cluster.local'
  const dnsNames = [
    'localhost',
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    `kubernetes.default.svc.${domain}`,
  ]
  const ipAddresses = ['127.0.0.1', '::1', options.serviceAddress ?? '10.0.0.1']
  for (const extra of options.serverNames ?? []) {
    const list = /^[\d.]+$|:/.test(extra) ? ipAddresses : dnsNames
    if (!list.includes(extra)) list.push(extra)
  }
  return { dnsNames, ipAddresses }
}

function coversNames(kept: CertificateAndKey, names: ServingNames): boolean {
  const certificate = new X509Certificate(kept.certificatePem)
  return (
    names.dnsNames.every(
      (text) => certificate.checkHost(text, { subject: 'never' }) !== undefined,
    ) && names.ipAddresses.every((text) => certificate.checkIP(text) !== undefined)
  )
}

/** Organizations of a certificate, and its common name: of several the last one, as Go reads them. */
export function subjectOf(certificate: string | Uint8Array): {
  commonName: string
  organizations: readonly string[]
} {
  const subject = new X509Certificate(certificate).toLegacyObject().subject as unknown as {
    CN?: string | string[]
    O?: string | string[]
  }
  const list = (value: string | string[] | undefined): string[] =>
    value === undefined ? [] : Array.isArray(value) ? value : [value]
  return { commonName: list(subject.CN).at(-1) ?? '', organizations: list(subject.O) }
}
