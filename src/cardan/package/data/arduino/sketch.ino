// @WHAT@: one state, and the time of a call.
#include <@NAME@.h>
#include <string.h>

static void once()
{
@BODY@
}

void setup()
{
  Serial.begin(115200);
}

void loop()
{
  const unsigned long start = micros();
  for (int k = 0; k < 100; ++k)
    once();
  Serial.print("microseconds a call: ");
  Serial.println((micros() - start) / 100.0);
  delay(1000);
}
