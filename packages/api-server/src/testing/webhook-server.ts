/** A webhook on loopback with a certificate of its own, as users write them. */
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { SystemClock, SystemRandom } from '@gyropilot/foundation'
import { createClusterCertificates } from '../tls/index.ts'
import type { AnyValue } from './test-server.ts'

export interface WebhookServer {
  readonly url: string
  readonly port: number
  /** For clientConfig.caBundle. */
  readonly caBundle: string
  /** The certificate that it shows, which is no authority. */
  readonly ownCertificate: string
  /** Bodies in the order in which they came, with the path. */
  readonly calls: { readonly path: string; readonly body: AnyValue }[]
  stop(): Promise<void>
}

/** What to answer: a JSON value, another status with a text, or nothing at all. */
export type WebhookAnswer = object | TextAnswer | 'silence'

interface TextAnswer {
  readonly status: number
  readonly text: string | Uint8Array
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The connection ends before all that was promised has come. */
  readonly broken?: boolean
}

// Keys take time to make; one set serves all tests of a file.
const certificates = createClusterCertificates({
  clock: new SystemClock(),
  random: new SystemRandom(),
})

export async function startWebhook(
  answer: (body: AnyValue, path: string) => WebhookAnswer | Promise<WebhookAnswer>,
): Promise<WebhookServer> {
  const calls: WebhookServer['calls'] = []
  const server = createServer(
    { cert: certificates.serving.certificatePem, key: certificates.serving.privateKeyPem },
    async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = JSON.parse(Buffer.concat(chunks).toString()) as AnyValue
      const path = request.url ?? ''
      calls.push({ path, body })
      const given = await answer(body, path)
      if (given === 'silence') return
      const { status, text, contentType, headers, broken }: TextAnswer =
        'status' in given && 'text' in given
          ? { contentType: 'text/plain', ...(given as TextAnswer) }
          : { status: 200, text: JSON.stringify(given), contentType: 'application/json' }
      response.writeHead(status, { 'content-type': contentType, ...headers })
      if (broken === true) response.write(text, () => request.socket.destroy())
      else response.end(text)
    },
  )
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    caBundle: Buffer.from(certificates.authority.certificatePem).toString('base64'),
    ownCertificate: Buffer.from(certificates.serving.certificatePem).toString('base64'),
    calls,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** For the `webhooks` of a configuration: this server is asked, below `path`, about what the rule names. */
export function askedAbout(
  { url, caBundle }: WebhookServer,
  rule: { readonly resources: readonly string[]; readonly operations: readonly string[] },
  { name = 'check.example.com', path = '' } = {},
): object {
  return {
    name,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    clientConfig: { url: url + path, caBundle },
    rules: [{ apiGroups: ['*'], apiVersions: ['*'], ...rule }],
  }
}

/** The answer of a webhook to a review. */
export function review(body: AnyValue, response: object): object {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid: body.request.uid, ...response },
  }
}

export function patchOf(...operations: readonly object[]): object {
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64')
  return { allowed: true, patchType: 'JSONPatch', patch }
}
