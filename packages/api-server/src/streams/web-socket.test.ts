import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { describe, test } from 'node:test'
import { VirtualClock } from '@gyropilot/foundation'
import { turn } from '../testing/test-server.ts'
import type { WebSocket } from 'ws'
import { COMMAND_FORMS } from './channel-form.ts'
import { serveCommandOverWebSocket } from './web-socket.ts'

class Client extends EventEmitter {
  readonly OPEN = 1
  readyState = 1
  readonly heard: string[] = []

  send(message: Buffer, _options: unknown, sent: () => void): void {
    this.heard.push(`${message[0]}:${message.subarray(1).toString()}`)
    sent()
  }
  resume(): void {}
  close(): void {
    this.heard.push('closed')
  }
}

const SUCCESS = '3:{"metadata":{},"status":"Success"}'

function connected({ tty }: { readonly tty: boolean }): { client: Client; clock: VirtualClock } {
  const client = new Client()
  const clock = new VirtualClock({ startMs: 0, settle: turn })
  void serveCommandOverWebSocket(
    client as unknown as WebSocket,
    {
      kind: 'command',
      wanted: { stdin: true, stdout: true, stderr: false, tty },
      async run({ stdout }) {
        await stdout(Buffer.from('name? '))
        return { exitCode: 0 }
      },
    },
    COMMAND_FORMS.get('v5.channel.k8s.io')!,
    clock,
  )
  return { client, clock }
}

// kubectl drops what comes before it has made its channels: a prompt that is lost is waited for without end.
describe('the first output of a command', () => {
  test('waits for a terminal to tell its size', async () => {
    const { client, clock } = connected({ tty: true })
    await clock.advance(249)
    assert.deepEqual(client.heard, ['1:'])
    client.emit('message', Buffer.from('\x04{"Width":80,"Height":24}'))
    await turn()
    assert.deepEqual(client.heard, ['1:', '1:name? ', SUCCESS, 'closed'])
  })

  for (const [tty, silenceMs] of [
    [true, 250],
    [false, 20],
  ] as const)
    test(`comes after ${silenceMs} ms of silence ${tty ? 'at' : 'without'} a terminal`, async () => {
      const { client, clock } = connected({ tty })
      await clock.advance(silenceMs - 1)
      assert.deepEqual(client.heard, ['1:'])
      await clock.advance(1)
      assert.deepEqual(client.heard, ['1:', '1:name? ', SUCCESS, 'closed'])
    })

  test('waits for nobody who has gone', async () => {
    const { client } = connected({ tty: true })
    client.readyState = 3
    client.emit('close')
    await turn()
    assert.deepEqual(client.heard, ['1:', 'closed'])
  })
})
