import type { CommandEnd, ContainerStreams, PortStreams } from './kubelet.ts'

/** What a client is connected to once its request is accepted and upgraded. */
export type ConnectionTarget =
  | {
      readonly kind: 'command'
      readonly wanted: {
        readonly stdin: boolean
        readonly stdout: boolean
        readonly stderr: boolean
        readonly tty: boolean
      }
      run(streams: ContainerStreams): Promise<CommandEnd>
    }
  | {
      /** The kubelet does not start the command. */
      readonly kind: 'refused'
      readonly why: string
    }
  | {
      readonly kind: 'ports'
      /** What the query names, for clients that open no streams of their own. */
      readonly ports: readonly number[]
      /** Serves one connection; resolves with a text when that is not possible. */
      forward(port: number, streams: PortStreams): Promise<string | undefined>
    }
