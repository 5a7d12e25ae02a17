// node main.ts [kubeconfig]
import { SystemClock, SystemHost, SystemRandom, klogLogger } from '@gyropilot/foundation'
import { ControllerManager, connect, installDefinition, stopSignal } from '@gyropilot/runtime'
import { addWebsiteController } from './controller.ts'
import { websiteDefinition } from './website.ts'

const clock = new SystemClock()
const random = new SystemRandom()
const logger = klogLogger({ clock, write: (text) => void process.stderr.write(text) })
const signal = stopSignal(process)

const { client, close } = await connect({
  host: new SystemHost(),
  clock,
  logger,
  kubeconfig: process.argv[2],
})
await installDefinition(client, websiteDefinition, { clock, random, signal })
const manager = new ControllerManager({ client, clock, random, logger })
addWebsiteController(manager)
await manager.start(signal)
await close()
