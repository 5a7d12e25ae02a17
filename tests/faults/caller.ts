import { Agent, request } from 'node:https'

export interface Caller {
  call<T = unknown>(
    method: string,
    path: string,
    body?: object,
    contentType?: string,
  ): Promise<{ readonly code: number; readonly body: T }>
  close(): void
}

/** A connection per request, up to `connections`: nothing puts them in a row before the server does. */
export function caller(server: string, token: string, connections: number): Caller {
  const agent = new Agent({ rejectUnauthorized: false, keepAlive: true, maxSockets: connections })
  const { hostname, port } = new URL(server)
  const call = <T>(
    method: string,
    path: string,
    body?: object,
    contentType = 'application/json',
  ): Promise<{ readonly code: number; readonly body: T }> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': contentType }
      const sent = request({ agent, hostname, port, method, path, headers }, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          resolve({ code: answer.statusCode ?? 0, body: JSON.parse(text) as T })
        })
      })
      sent.on('error', reject)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
  return { call, close: () => agent.destroy() }
}
