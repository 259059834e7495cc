import { render } from 'preact'
import { followPulse } from './core/answers'
import { lookWho, standing, type Fault } from './core/api'
import { listenToKeys } from './core/keys'
import { pulseFault, startPulse } from './core/pulse'
import { linkCode } from './core/router'
import { Shell } from './shell'

async function begin(): Promise<void> {
  for (;;) {
    try {
      return await lookWho()
    } catch (fault) {
      pulseFault.value = fault as Fault
      await new Promise((done) => setTimeout(done, 2000))
    }
  }
}

render(<Shell />, document.getElementById('app')!)
startPulse()
followPulse()
listenToKeys()
if (linkCode) standing.value = 'out'
else void begin()
