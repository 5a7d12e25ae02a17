#!/usr/bin/env node
/**
 * The program that test harnesses start as etcd. It keeps nothing: the stand-in for kube-apiserver has its own memory. It is
 * healthy, says its version, and ends when it is told to or when who started it is gone. Nothing is loaded but Node's own, and
 * not its HTTP: that would be half of the start and a quarter of the memory, for four answers.
 */
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { endWithParent } from './end-with-parent.ts'

const HELP = `etcd: a stand-in that answers /health and /version and keeps nothing; gyro envtest puts it beside kube-apiserver

Flags that are used:
      --listen-client-urls string      Where to listen. (default http://localhost:2379)

Flags that are accepted:
      --advertise-client-urls string
      --data-dir string
      --listen-peer-urls string
      --unsafe-no-fsync
      and any other
`
const ANSWERS: Readonly<Record<string, string>> = {
  '/health': '{"health":"true","reason":""}',
  '/livez': 'ok',
  '/readyz': 'ok',
  '/version': '{"etcdserver":"3.6.0","etcdcluster":"3.6.0"}',
}

const LONGEST_HEAD_BYTES = 65_536

const args = process.argv.slice(2)
if (args.some((arg) => arg === '--help' || arg === '-h')) process.stdout.write(HELP)
else if (args.includes('--version')) process.stdout.write('etcd Version: 3.6.0\n')
else serve(urlOf(args))

/** As Go reads flags, which is how etcd does: one dash or two, a value behind `=` or as the next word, and the last one counts. */
function urlOf(all: readonly string[]): URL {
  const name = '--listen-client-urls'
  let given: string | undefined
  for (const [index, arg] of all.entries()) {
    const spelled = /^--?listen-client-urls(?:=(.*))?$/s.exec(arg)
    if (spelled !== null) given = spelled[1] ?? all[index + 1]
  }
  const text = given?.split(',')[0] || 'http://localhost:2379'
  if (!URL.canParse(text) || new URL(text).protocol !== 'http:')
    fail(`${name}=${text} is not an http:// address`)
  return new URL(text)
}

function serve(url: URL): void {
  const server = createServer((socket) => {
    let head = ''
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      head += text
      if (head.includes('\r\n\r\n') || head.length > LONGEST_HEAD_BYTES) answer(socket, head)
    })
    // Who asked may be gone by now.
    socket.on('error', () => socket.destroy())
  })
  server.on('error', ({ message }) => fail(message))
  server.listen(Number(url.port || '80'), url.hostname.replace(/^\[|\]$/g, ''))
  endWithParent()
}

/** One for each connection: who asks for health asks until it is there, and no more. */
function answer(socket: Socket, head: string): void {
  // `/health?serializable=true` asks for the same.
  const path = /^[A-Z]+ ([^\s?]+)(?:\?\S*)? HTTP\/1\.[01]\r\n/.exec(head)?.[1]
  const [status, body] =
    path === undefined
      ? ['400 Bad Request', '400 Bad Request\n']
      : Object.hasOwn(ANSWERS, path)
        ? ['200 OK', ANSWERS[path]!]
        : ['404 Not Found', '404 page not found\n']
  socket.removeAllListeners('data')
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${head.startsWith('HEAD ') ? '' : body}`,
  )
}

function fail(message: string): never {
  process.stderr.write(`etcd: ${message}\n`)
  process.exit(1)
}
