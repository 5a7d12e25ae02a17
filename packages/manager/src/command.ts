/** From the command line to an exit code. Contract: docs/behaviour/runtime/manager.md, Startup sequence, Shutdown and exit. */
import { hostname } from 'node:os'
import { goPlatform } from '@gyropilot/client'
import {
  GyropilotError,
  SystemClock,
  SystemHost,
  SystemRandom,
  errorText,
  jsonLogger,
  klogLogger,
} from '@gyropilot/foundation'
import type { Logger } from '@gyropilot/foundation'
import { runApp } from './app.ts'
import type { AppWorld } from './app.ts'
import { helpText, USAGE } from './flags/help.ts'
import { flagDefinitions } from './flags/kube-controller-manager-flags.ts'
import { parseFlags } from './flags/pflag.ts'
import { Options, validate } from './options.ts'
import { servingCertificate } from './serving-certificate.ts'
import { startHttpsServer } from './system/https-server.ts'

const VERSION = 'v1.36.0'
const COMMIT = 'gyropil'

export async function main(args: readonly string[]): Promise<void> {
  const options = optionsFrom(args)
  if (options.flag('help')) {
    process.stdout.write(helpText(process.stdout.columns ?? 100))
    return
  }
  if (options.isGiven('version') && options.text('version') !== 'false') {
    process.stdout.write(`Kubernetes ${VERSION}\n`)
    return
  }
  const logger = loggerFrom(options)
  logFlags(options, logger)
  const stop = stopSignal()
  try {
    await runApp(options, worldFrom(options, logger), stop)
    process.exit(0)
  } catch (error) {
    logger.error(error, 'command failed')
    process.stderr.write(`Error: ${errorText(error)}\n`)
    process.exit(error instanceof GyropilotError ? error.exitCode : 1)
  }
}

function optionsFrom(args: readonly string[]): Options {
  try {
    const options = new Options(parseFlags(flagDefinitions, args))
    if (!options.flag('help')) validate(options)
    return options
  } catch (error) {
    const isFlag = error instanceof GyropilotError && error.code === 'FLAG_INVALID'
    if (isFlag)
      process.stderr.write(`${USAGE}\nRun 'kube-controller-manager --help' for all flags.\n\n`)
    process.stderr.write(`Error: ${errorText(error)}\n`)
    process.exit(1)
  }
}

function loggerFrom(options: Options): Logger {
  const common = {
    clock: new SystemClock(),
    write: (line: string) => void process.stderr.write(line),
    verbosity: options.number('v'),
    processId: process.pid,
  }
  return options.text('logging-format') === 'json' ? jsonLogger(common) : klogLogger(common)
}

function logFlags(options: Options, logger: Logger): void {
  const atOne = logger.verbosity(1)
  const atTwo = logger.verbosity(2)
  for (const { name, unused } of flagDefinitions) {
    const value = options.values.get(name)
    const text =
      value instanceof Map ? [...value].map((pair) => pair.join('=')).join(',') : String(value)
    atOne.info(`FLAG: --${name}=${JSON.stringify(text)}`)
    if (unused !== undefined && options.isGiven(name)) {
      atTwo.info('Flag is accepted without effect', { flag: name, why: unused })
    }
  }
}

/** Aborts at the first SIGTERM or SIGINT; a second one ends the process at once. */
function stopSignal(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(1)
      controller.abort(new Error(`received ${signal}`))
    })
  }
  return controller.signal
}

function worldFrom(options: Options, logger: Logger): AppWorld {
  const host = new SystemHost()
  const clock = new SystemClock()
  const random = new SystemRandom()
  return {
    host,
    hostname: hostname(),
    clock,
    random,
    logger,
    platform: goPlatform(process.platform, process.arch),
    version: VERSION,
    commit: COMMIT,
    async serve(answer, clientAuthorityPem) {
      const bindAddress = options.text('bind-address')
      const certificate = await servingCertificate({
        certFile: options.text('tls-cert-file'),
        keyFile: options.text('tls-private-key-file'),
        bindAddress,
        host,
        clock,
        random,
      })
      const server = await startHttpsServer({
        host: bindAddress,
        port: options.number('secure-port'),
        certificate,
        ...(clientAuthorityPem === undefined ? {} : { clientAuthorityPem }),
        allowHttp2: !options.flag('disable-http2-serving'),
        answer,
      })
      logger.info('Serving securely', { address: bindAddress, port: server.port })
      return () => server.close()
    },
  }
}
