/** Requests, certificates and clusters for tests of the HTTPS port. */
import { X509Certificate } from 'node:crypto'
import type { Client } from '@gyropilot/client'
import { generateKeyPair, issueCertificate } from '@gyropilot/foundation/x509'
import type { IncomingRequest } from './request.ts'

/** The moment at which test clocks start. */
const NOW_MS = Date.parse('2026-01-01T00:00:00Z')

export function request(path: string, more: Partial<IncomingRequest> = {}): IncomingRequest {
  const [pathname = '', query = ''] = path.split('?')
  return {
    method: 'GET',
    path: pathname,
    query: new URLSearchParams(query),
    headers: {},
    peerCertificates: [],
    body: () => Promise.resolve(''),
    ...more,
  }
}

/** An authority that issues client certificates. */
export function testAuthority(commonName: string) {
  const { publicKey, privateKey } = generateKeyPair()
  const subject = { commonName }
  const issuer = { subject, privateKey }
  let serial = 0
  const times = { notBeforeMs: NOW_MS - 3_600_000, notAfterMs: NOW_MS + 3_600_000 }
  const number = (): Uint8Array =>
    Uint8Array.from({ length: 16 }, (_, i) => (i === 15 ? ++serial : 1))
  const pem = issueCertificate(
    { subject, publicKey, usage: 'authority', serialNumber: number(), ...times },
    issuer,
  )
  return {
    pem,
    certificate: new X509Certificate(pem),
    client(name: string, organizations: readonly string[] = [], more: Partial<typeof times> = {}) {
      const client = { commonName: name, organizations }
      const key = generateKeyPair()
      return new X509Certificate(
        issueCertificate(
          {
            subject: client,
            publicKey: key.publicKey,
            usage: 'client',
            serialNumber: number(),
            ...times,
            ...more,
          },
          issuer,
        ),
      )
    },
  }
}

/** A client that knows reviews only; `answer` is given their bodies. */
export function reviewer(
  answer: (body: {
    readonly kind: string
    readonly spec: Readonly<Record<string, unknown>>
  }) => unknown,
): Client & { asked: number } {
  const client = {
    asked: 0,
    raw: async (sent: { json?: unknown }) => {
      client.asked++
      return answer(sent.json as never)
    },
    resource: () => {
      throw new Error('only reviews are asked for')
    },
  }
  return client as unknown as Client & { asked: number }
}
